import type { ToolFacts } from '../contract.ts'
import type { ToolResult } from './readable-output.ts'

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
