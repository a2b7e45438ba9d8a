import type { AgentUsage } from '../agents/agent-usage.ts'
import { errorText } from '../agents/error-text.ts'
import type { OwnRecord } from '../agents/own-record.ts'
import type { ReadableOutput } from '../agents/readable-output.ts'
import type { AgentNote } from '../contract.ts'

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
