import { createDenials, type Denials } from '../agents/denials.ts'
import { createLines } from '../agents/jsonl.ts'
import { createNoteQueue } from '../agents/note-queue.ts'
import type { RunReport } from '../contract.ts'
import type { AgentStream, StreamEnd, StreamNote } from '../streams/agent-stream.ts'

const MAX_TAIL = 2_000

export interface Listener {
  /** Aborted once something of it could not be told. */
  broken: AbortSignal
  output(stream: 'stdout' | 'stderr', bytes: Buffer): void
  /** Resolves when all is told, and rejects if it could not be. */
  end(): Promise<Heard>
}

export interface Heard {
  stream: StreamEnd
  denials: Denials
  /** A line of its standard output was too long, and none of it is known. */
  hasDropped: boolean
  /** The last of what it wrote to its standard error. */
  errors: string
}

/**
 * Hears what an agent prints: tells it on while it runs, and takes in what it means. `session` is
 * the id of its conversation where it is told already.
 */
export function createListener(
  stream: AgentStream,
  report: RunReport,
  session: string | null,
): Listener {
  const broken = new AbortController()
  const queue = createNoteQueue(
    (note) => report.note(note),
    () => broken.abort(),
  )
  const denials = createDenials()
  const isNew = createNewsFilter(session)
  let errors = ''
  let hasDropped = false
  let isDropTold = false

  function tell(notes: readonly StreamNote[]): void {
    for (const note of notes.filter(isNew)) {
      if (note.event === 'denied') denials.add(note.fields.tool)
      queue.add(note)
    }
  }

  function dropped(): void {
    if (isDropTold) return
    isDropTold = true
    const note = '[casefile: a line of this output is too long, and was not read]\n'
    report.output('stderr', Buffer.from(note))
  }

  const lines = {
    stdout: createLines({
      line: (text) => tell(stream.line(text)),
      dropped() {
        dropped()
        hasDropped = true
        stream.dropped?.()
      },
    }),
    stderr: createLines({
      line(text) {
        errors = `${errors}${text}\n`.slice(-MAX_TAIL)
        tell(stream.errorLine?.(text) ?? [])
      },
      dropped,
    }),
  }
  return {
    broken: broken.signal,
    output(name, bytes) {
      report.output(name, bytes)
      lines[name].write(bytes)
    },
    async end() {
      lines.stdout.end()
      lines.stderr.end()
      await queue.idle()
      return { stream: stream.end(), denials, hasDropped, errors }
    },
  }
}

/** Agents repeat the id of their conversation, and lists in which nothing has changed. */
function createNewsFilter(session: string | null): (note: StreamNote) => boolean {
  let known = session
  let plan = ''
  return ({ event, fields }) => {
    if (event === 'agent_session') {
      if (fields.agent_session === known) return false
      known = fields.agent_session
    }
    if (event === 'agent_plan') {
      const entries = JSON.stringify(fields.entries)
      if (entries === plan) return false
      plan = entries
    }
    return true
  }
}
