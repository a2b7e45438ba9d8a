import type { ToolFacts } from '../contract.ts'
import type { ToolResult } from './readable-output.ts'

/** An action that is in the agent's record of its conversation. */
export interface RecordedAction {
  /** The agent's own id of the call. */
  id: string
  facts: ToolFacts
  result: ToolResult
}

/** What an agent's record says that the agent may have left out of its stream. */
export interface OwnRecord {
  /** Those of this run that the record does not mark as sent. */
  actions: readonly RecordedAction[]
  /** Whether the record marks what was sent at all; if it does not, every action is in `actions`. */
  marksSent: boolean
}

export interface RecordedRun {
  env: Readonly<Record<string, string>>
  /** The agent's own id of its conversation. */
  conversation: string
  /** When the run began, in milliseconds: an earlier run of the conversation is in the same record. */
  since: number
}

/** Reads the record of a run that has ended; `too_large` where it is not read, null where there is none. */
export type ReadOwnRecord = (run: RecordedRun) => Promise<OwnRecord | 'too_large' | null>

/** The line of the output above what is only in the record. */
export const FROM_RECORD =
  '[casefile: the agent did not report these, its record of the conversation has them]'

export const RECORD_TOO_LARGE =
  '[casefile: its record of the conversation is too large to read: actions that it did not report are not shown]'
