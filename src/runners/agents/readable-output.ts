import { plainText } from '../../files/plain-text.ts'
import { retryText } from '../../model/agent-retry.ts'
import { callText } from '../../model/tool-call.ts'
import type { AgentNote, ToolFacts } from '../contract.ts'
import { beginningOf } from './agent-text.ts'
import { createBoundedMap } from './bounded-map.ts'

/**
 * Formats what an agent says and does as readable step output: messages as paragraphs, each tool call as a line
 * with its result below.
 */
export interface ReadableOutput {
  /** A whole message. An exact repetition is not shown. */
  message(text: string): void
  /**
   * A chunk of a message, shown at once. Another key starts a new message. Without keys, so does a capital letter
   * directly after the end of a sentence.
   */
  part(text: string, key?: string): void
  call(id: string, facts: ToolFacts): void
  /** The end of a call. If its start was not shown, it is shown now. */
  result(id: string, facts: ToolFacts, result: ToolResult): void
  /** A separate line. */
  line(text: string): void
  /** The closing line: how the run ended. */
  end(text: string): void
  /** Shows a note that is also in the audit trail, such as the to-do list or a retry. */
  note(note: AgentNote): void
}

export interface ToolResult {
  status: 'completed' | 'failed' | 'denied'
  /** What the tool answered. */
  text: string
}

export interface ReadableDeps {
  write(text: string): void
  /** See `RunReport`. */
  clean(text: string): string
  /** Paths in this folder are shown relative to it. */
  workdir: string
  /** Called when the agent has said or done something. */
  onProgress?(): void
}

const MAX_CALL = 300
const MAX_ITEMS = 20
const MAX_ITEM = 80
/** Results are read only up to this many characters from each end. */
const MAX_RESULT = 50_000
const SENTENCE_END = /\S[.!?:]$/
const SENTENCE_BEGINNING = /^[A-Z#*]/
const WORDS = { completed: 'ok', failed: 'failed', denied: 'denied' } as const

export function createReadableOutput(deps: ReadableDeps): ReadableOutput {
  const { write, clean, workdir, onProgress = () => {} } = deps
  /** The last two characters of the output, initially as if after a blank line. */
  let behind = '\n\n'
  let isMessage = false
  let openKey: string | null = null
  let lastMessage = ''
  let shownCall: string | null = null
  const known = createBoundedMap<true>()

  function put(text: string): void {
    if (text === '') return
    behind = (behind + text.slice(-2)).slice(-2)
    write(text)
  }

  function endLine(): void {
    if (!behind.endsWith('\n')) put('\n')
  }

  function blankLine(): void {
    endLine()
    if (behind !== '\n\n') put('\n')
  }

  function beginMessage(): void {
    blankLine()
    shownCall = null
    isMessage = true
  }

  function line(text: string): void {
    if (isMessage) blankLine()
    else endLine()
    isMessage = false
    openKey = null
    lastMessage = ''
    shownCall = null
    put(`${text}\n`)
  }

  function shortened(text: string): string {
    return clean(text).replaceAll(`${workdir}/`, '')
  }

  function cleanCall(facts: ToolFacts): string {
    const title = facts.title && shortened(facts.title)
    return lineOfCall({ ...facts, ...(title ? { title } : {}) })
  }

  function call(id: string, facts: ToolFacts): void {
    onProgress()
    line(`→ ${cleanCall(facts)}`)
    known.set(id, true)
    shownCall = id
  }

  return {
    message(text) {
      if (text.trim() === '' || text.trim() === lastMessage) return
      onProgress()
      beginMessage()
      openKey = null
      lastMessage = text.trim()
      put(`${text.trimEnd()}\n`)
    },
    part(text, key = '') {
      if (text === '') return
      onProgress()
      const isNext = key === '' && SENTENCE_END.test(behind) && SENTENCE_BEGINNING.test(text)
      const isNew = !isMessage || openKey !== key || isNext
      if (isNew) beginMessage()
      openKey = key
      put(isNew ? text.replace(/^(?:[ \t]*\n)+/, '') : text)
    },
    call,
    result(id, facts, { status, text }) {
      if (!known.has(id)) call(id, facts)
      onProgress()
      const which = shownCall === id ? '' : ` (${cleanCall(facts)})`
      const said = resultText(facts, status, shortened(withoutMiddle(text)))
      line(`  ${WORDS[status]}${which}${said === '' ? '' : `: ${said}`}`)
    },
    line,
    end(text) {
      blankLine()
      line(`[${text}]`)
    },
    note({ event, fields }) {
      if (event === 'agent_retry') line(retryText({ ...fields }))
      if (event !== 'agent_plan') return
      onProgress()
      const items = fields.entries.slice(0, MAX_ITEMS).map(({ content, status }) => {
        const sign = status === 'completed' ? 'x' : status === 'in_progress' ? '>' : ' '
        return `[${sign}] ${oneLine(shortened(content), MAX_ITEM)}`
      })
      line(`to do: ${items.join(', ')}`)
    },
  }
}

function lineOfCall({ tool, kind, title = '' }: ToolFacts): string {
  return callText({
    tool: oneLine(tool, MAX_CALL),
    title: oneLine(title, MAX_CALL),
    ...(kind === undefined ? {} : { kind }),
  })
}

/** A tool's answer on one line. For a command, the end of the output is shown. */
function resultText({ kind }: ToolFacts, status: ToolResult['status'], text: string): string {
  const lines = plainText(text)
    .split('\n')
    .filter((line) => line.trim() !== '')
  const last = lines.at(-1)
  if (last === undefined) return ''
  if (status !== 'completed') return bothEnds(lines.join(' '))
  if (lines.length === 1) return oneLine(last, MAX_CALL)
  const count = `${lines.length} lines`
  return kind === 'execute' ? `${count}, the last: ${oneLine(last, MAX_CALL)}` : count
}

/** Shortens a long failure in the middle: it begins with the cause and ends with the outcome. */
function bothEnds(text: string): string {
  const line = text.replace(/\s+/g, ' ')
  if (line.length <= 2 * MAX_CALL) return line
  return `${line.slice(0, MAX_CALL).toWellFormed()} … ${line.slice(-MAX_CALL).toWellFormed()}`
}

/** Cuts at line ends, so that no secret is cut in two. */
function withoutMiddle(text: string): string {
  if (text.length <= 2 * MAX_RESULT) return text
  const head = text.slice(0, MAX_RESULT)
  const tail = text.slice(-MAX_RESULT)
  return head.slice(0, head.lastIndexOf('\n') + 1) + tail.slice(tail.indexOf('\n') + 1)
}

function oneLine(text: string, most: number): string {
  const line = plainText(beginningOf(text, 10 * most))
    .replace(/\s+/g, ' ')
    .trim()
  return line.length > most ? `${line.slice(0, most).toWellFormed()}…` : line
}
