import type { AgentUsage } from '../agents/agent-usage.ts'
import type { OwnRecord } from '../agents/own-record.ts'
import type { ReadableOutput } from '../agents/readable-output.ts'
import { saidError } from '../agents/said-error.ts'
import type { AgentNote } from '../contract.ts'

/** Makes the reader of one run; it shows what the agent says and does as it comes. */
export type OpenStream = (shown: ReadableOutput) => AgentStream

/**
 * Reads what an agent prints, in its own format. An event of an unknown type is never an error: the raw
 * stream is an artifact. A line that is no JSON is shown as it is.
 */
export interface AgentStream {
  /** A line of standard output. */
  line(text: string): StreamNote[]
  /**
   * A line of standard error: some agents say only there that something was denied, or that they ask
   * their model again. Null for a line of the agent's own log, which is not shown.
   */
  errorLine?(text: string): StreamNote[] | null
  /** A line of standard output that was too long to read. */
  dropped?(): void
  /** The actions that it did not print, once there are no more lines, by its own record of the conversation. */
  unsent?(record: OwnRecord | null): StreamNote[]
  /** What it all came to, once there are no more lines. */
  end(): StreamEnd
}

export type StreamNote = Exclude<AgentNote, { event: 'agent_started' | 'agent_usage' }>

export interface StreamEnd {
  /** What the agent said, in order. */
  messages: readonly string[]
  /** A message was too long to be kept. */
  overlong: boolean
  /** The plan that it asked to have approved, where it did. */
  plan: string | null
  verdict: Verdict
  usage: AgentUsage
}

/**
 * Whether the agent says that it succeeded. `anyExit`: whatever its exit code, where that is known to
 * lie. `reason` goes on a sentence that begins with the agent's name; `isSaid` where it is in the agent's own words.
 */
export type Verdict = { ok: true; anyExit?: true } | { ok: false; reason: string; isSaid?: true }

export const NO_VERDICT: Verdict = {
  ok: false,
  reason: 'ended without saying that it succeeded',
}

export function said(what: unknown): Verdict {
  const text = typeof what === 'string' ? saidError(what) : ''
  if (text === '') return { ok: false, reason: 'failed without saying why' }
  return { ok: false, reason: `failed: ${text}`, isSaid: true }
}
