/** Why nothing was pushed. */
export const STOP_CODES = [
  'no_repository',
  'no_remote',
  'detached_head',
  'unfinished_merge',
  'unrelated_histories',
  'git_busy',
  'broken_file',
  'secret_found',
  'session_running',
  'code_changed',
  'code_to_push',
  'fetch_failed',
  'push_failed',
  'overtaken',
  'files_changing',
] as const

export type StopCode = (typeof STOP_CODES)[number]

/** Ends a sync before it has pushed. The message says why, and what to do. */
export class SyncStop extends Error {
  readonly code: StopCode

  constructor(code: StopCode, message: string) {
    super(message)
    this.name = 'SyncStop'
    this.code = code
  }
}
