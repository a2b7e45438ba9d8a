import { retryText } from '../../model/agent-retry.ts'
import type { StreamName } from '../../model/settings.ts'
import { createDenials, type Denials } from '../agents/denials.ts'
import { createLines } from '../agents/jsonl.ts'
import { createNoteQueue, createRepeatFilter } from '../agents/note-queue.ts'
import {
  type ParsedEnd,
  type ParsedNote,
  RECORD_TOO_LARGE,
  type ReadOwnRecord,
} from '../agents/parser-kit.ts'
import { createReadableOutput } from '../agents/readable-output.ts'
import { parserFor } from '../agents/registry.ts'
import { createRetryLimit } from '../agents/retry-limit.ts'
import type { RunReport } from '../contract.ts'

const MAX_TAIL = 2_000
const ACTIONS: readonly ParsedNote['event'][] = ['tool_call', 'agent_plan', 'denied']

export interface Listener {
  /** Aborted when the run must end: a note could not be written, or the agent only retries. */
  broken: AbortSignal
  output(stream: 'stdout' | 'stderr', bytes: Buffer): void
  /**
   * Resolves when all notes are on disk; rejects if one could not be written. `readRecord` reads the agent's record
   * of a conversation.
   */
  end(readRecord?: (conversation: string) => ReturnType<ReadOwnRecord>): Promise<Heard>
  /** Writes the last line of the output: how the run ended. */
  showEnd(text: string): void
}

export interface Heard {
  stream: ParsedEnd
  denials: Denials
  /** Whether it called a tool, kept a to-do list, or was denied something. */
  hasActed: boolean
  /** Whether a line of its standard output was too long and was discarded. */
  hasDropped: boolean
  /** The end of its standard error. */
  errors: string
  /** Why it was ended, if it only retried its model request. */
  retries: string | null
}

export interface ListenerDeps {
  format: StreamName
  report: RunReport
  /** The id of its conversation, if it is already known. */
  session: string | null
  workdir: string
  retriesMs: number
}

/** Reads an agent's output: reports it in readable form while the agent runs, and finds the result. */
export function createListener(deps: ListenerDeps): Listener {
  const { format, report, session, workdir } = deps
  const broken = new AbortController()
  const queue = createNoteQueue(
    (note) => report.note(note),
    () => broken.abort(),
  )
  const isMadeReadable = format !== 'plain'
  const denials = createDenials()
  const limit = createRetryLimit(deps.retriesMs, () => broken.abort())
  const shown = createReadableOutput({
    write: (text) => report.output('stdout', Buffer.from(text)),
    clean: (text) => report.clean(text),
    workdir,
    onProgress: limit.progress,
  })
  const stream = parserFor(format)(shown)
  const isNew = createRepeatFilter(session)
  let conversation = session
  let errors = ''
  let hasActed = false
  let hasDropped = false
  let hasReportedDrop = false

  function addNotes(notes: readonly ParsedNote[]): void {
    for (const note of notes.filter(isNew)) {
      if (note.event === 'agent_session') conversation = note.fields.agent_session
      if (ACTIONS.includes(note.event)) hasActed = true
      if (note.event === 'denied') denials.add(note.fields.tool)
      shown.note(note)
      if (note.event === 'agent_retry') limit.retry(retryText({ ...note.fields }))
      queue.add(note)
    }
  }

  function dropped(): void {
    if (hasReportedDrop) return
    hasReportedDrop = true
    const note = '[casefile: a line of this output was too long and was skipped]\n'
    report.output('stderr', Buffer.from(note))
  }

  const raw = createRaw(report)
  const lines = {
    stdout: createLines({
      line: (text) => addNotes(stream.line(text)),
      dropped() {
        dropped()
        hasDropped = true
        stream.dropped?.()
      },
    }),
    stderr: createLines({
      line(text) {
        const notes = stream.errorLine ? stream.errorLine(text) : []
        const isOfLog = notes === null || notes.some(({ event }) => event === 'agent_retry')
        if (!isOfLog) errors = `${errors}${text}\n`.slice(-MAX_TAIL)
        if (isMadeReadable && isOfLog) raw.line(JSON.stringify({ stderr: text }))
        else if (isMadeReadable) report.output('stderr', Buffer.from(`${text}\n`))
        addNotes(notes ?? [])
      },
      dropped,
    }),
  }
  return {
    broken: broken.signal,
    output(name, bytes) {
      // otherwise each line is shown once it has been read
      if (!isMadeReadable) report.output(name, bytes)
      else if (name === 'stdout') raw.bytes(bytes)
      lines[name].write(bytes)
    },
    showEnd: shown.end,
    async end(readRecord = async () => null) {
      lines.stdout.end()
      lines.stderr.end()
      raw.end()
      const record = conversation === null ? null : await readRecord(conversation)
      if (record === 'too_large') shown.line(RECORD_TOO_LARGE)
      addNotes(stream.unsent?.(record === 'too_large' ? null : record) ?? [])
      await queue.idle()
      const retries = limit.reached()
      return { stream: stream.end(), denials, hasActed, hasDropped, errors, retries }
    },
  }
}

/** Shows standard output as it arrives. Lines from elsewhere are inserted only between its lines. */
function createRaw(report: RunReport) {
  let waiting = ''
  let isMidLine = false

  function flush(): void {
    if (waiting !== '') report.raw(Buffer.from(`${isMidLine ? '\n' : ''}${waiting}`))
    waiting = ''
    isMidLine = false
  }

  return {
    bytes(bytes: Buffer) {
      if (bytes.length === 0) return
      report.raw(bytes)
      isMidLine = bytes.at(-1) !== 0x0a
      if (!isMidLine) flush()
    },
    line(text: string) {
      waiting += `${text}\n`
      if (!isMidLine) flush()
    },
    end: flush,
  }
}
