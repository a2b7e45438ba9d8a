import type { AgentNote, ToolFacts } from '../contract.ts'
import { errorText } from './agent-text.ts'
import type { AgentUsage } from './agent-usage.ts'
import type { ReadableOutput, ToolResult } from './readable-output.ts'
import { parsedJson, type UnknownRecord } from './unknown-record.ts'

/** Creates the parser for one run. It passes what the agent says and does to `shown` as it arrives. */
export type CreateParser = (shown: ReadableOutput) => OutputParser

/**
 * Parses an agent's output in its own format. Unknown event types are never an error, because the raw stream is
 * kept as an artifact. A line that is not JSON is shown as it is.
 */
export interface OutputParser {
  /** A line of standard output. */
  line(text: string): ParsedNote[]
  /**
   * A line of standard error, where some agents report denials and retries. Null for a line of the agent's own log,
   * which is not shown.
   */
  errorLine?(text: string): ParsedNote[] | null
  /** A line of standard output was too long to read. */
  dropped?(): void
  /**
   * Called after the last line: returns actions from the agent's record of the conversation that it did not print.
   */
  unsent?(record: OwnRecord | null): ParsedNote[]
  /** Called last: returns the result. */
  end(): ParsedEnd
}

export type ParsedNote = Exclude<AgentNote, { event: 'agent_started' | 'agent_usage' }>

export interface ParsedEnd {
  /** The agent's messages, in order. */
  messages: readonly string[]
  /** A message was too long and was discarded. */
  overlong: boolean
  /** The plan that it asked to approve; null if it did not. */
  plan: string | null
  verdict: RunOutcome
  usage: AgentUsage
}

/**
 * The agent's own result. `anyExit`: ignore the exit code, which is known to be wrong in this case. `reason` is a
 * predicate for a sentence about the agent; `isSaid` if it is in the agent's own words.
 */
export type RunOutcome = { ok: true; anyExit?: true } | { ok: false; reason: string; isSaid?: true }

export const NO_VERDICT: RunOutcome = {
  ok: false,
  reason: 'ended without saying that it succeeded',
}

export function failedOutcome(what: unknown): RunOutcome {
  const text = typeof what === 'string' ? errorText(what) : ''
  if (text === '') return { ok: false, reason: 'failed without saying why' }
  return { ok: false, reason: `failed: ${text}`, isSaid: true }
}

/** Parses a line as a JSON event; null for any other line. */
export function readEvent(line: string): UnknownRecord | null {
  const text = line.trim()
  // others are text for people, or a truncated line: the log has it
  return text.startsWith('{') ? (parsedJson(text) as UnknownRecord | null) : null
}

/** Longer than any plan may be. A message is kept completely or not at all. */
const MAX_CHARACTERS = 1024 * 1024

export interface Messages {
  /** Adds a whole message. */
  add(text: string): void
  /** Adds a chunk to the current message. */
  append(text: string): void
  /** Completes the current message. */
  close(): void
  /** Discards the current message, because a chunk of it is missing. */
  discard(): void
  end(): { messages: string[]; overlong: boolean }
}

/** Collects an agent's messages. Drops the oldest if there are too many. */
export function createMessages(): Messages {
  const messages: string[] = []
  let parts = ''
  let total = 0
  let isDiscarded = false
  let overlong = false

  function add(text: string): void {
    if (text.trim() === '') return
    if (text.length > MAX_CHARACTERS) {
      overlong = true
      return
    }
    messages.push(text)
    total += text.length
    while (total > 2 * MAX_CHARACTERS) total -= messages.shift()!.length
  }

  function close(): void {
    if (isDiscarded) overlong = true
    else add(parts)
    parts = ''
    isDiscarded = false
  }

  function discard(): void {
    parts = ''
    isDiscarded = true
  }

  return {
    add(text) {
      close()
      add(text)
    },
    append(text) {
      if (isDiscarded) return
      parts += text
      if (parts.length > MAX_CHARACTERS) discard()
    },
    close,
    discard,
    end() {
      close()
      return { messages, overlong }
    },
  }
}

/** An action in the agent's record of its conversation. */
export interface RecordedAction {
  /** The agent's id of the call. */
  id: string
  facts: ToolFacts
  result: ToolResult
}

/** Actions from an agent's record that may be missing from its output. */
export interface OwnRecord {
  /** The actions of this run that the record does not mark as sent. */
  actions: readonly RecordedAction[]
  /** Whether the record marks sent actions at all. If not, `actions` has every action. */
  marksSent: boolean
}

export interface RecordedRun {
  env: Readonly<Record<string, string>>
  /** The agent's id of its conversation. */
  conversation: string
  /** When the run began, in milliseconds: the same record has earlier runs of the conversation. */
  since: number
}

/** Reads the record of a finished run; `too_large` if it is not read, null if there is none. */
export type ReadOwnRecord = (run: RecordedRun) => Promise<OwnRecord | 'too_large' | null>

/** The output line above actions that are only in the record. */
export const FROM_RECORD =
  '[casefile: the agent did not report these actions; they are from its record of the conversation]'

export const RECORD_TOO_LARGE =
  '[casefile: its record of the conversation is too large to read, so unreported actions are missing here]'
