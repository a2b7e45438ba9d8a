import type { Actor } from '../model/history.ts'
import type { IdentifiedRun, RunProcess } from '../runners/process/run-processes.ts'

/** Why a job was stopped; `leave_line` before it started. */
export type Ending = 'abandon' | 'stop' | 'time_out' | 'leave_line'

/** A session under way in this process: planning, or at work in a folder. */
export interface Job {
  session_id: string
  case_id: string
  number: number
  kind: 'plan' | 'work'
  runId: string
  /** The processes started for it so far. */
  processes: RunProcess[]
  /**
   * The run folder's name. It stays the same per session, because an agent finds its conversation by the folder it
   * ran in.
   */
  folderId: string
  /** The working folder it occupies; null while it plans or waits in line. */
  folder: string | null
  /** It works in a separate folder, so only their number is limited. */
  isolated: boolean
  /** It has not started to work, as its folder was not free. */
  inLine: boolean
  signal: AbortSignal
  ending: Ending | null
  /** The operator's reason for abandoning. */
  reason: string | undefined
  /** Who abandoned it. */
  endedBy: Actor | undefined
  /** Lets go of its folder, or of its place in line. */
  release(): void
  /** Its plan waits for approval, which is recorded; only cleanup remains. */
  planned: boolean
}

/** A running session, as needed to recognize requests that its own processes send to this service. */
export interface SessionRun extends IdentifiedRun {
  session_id: string
  case_id: string
  kind: Job['kind']
  /** A person started its agent, not the service. */
  isTerminal?: boolean
}

export interface EndingWhy {
  reason?: string | undefined
  by?: Actor
}

/** `folder` is the one that it occupies, or waits for. */
export type NewJob = Pick<
  Job,
  'session_id' | 'case_id' | 'number' | 'kind' | 'runId' | 'folder' | 'isolated'
>
