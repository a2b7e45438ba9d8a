/** Why nothing was pushed. */
export const STOP_CODES = [
  'no_repository',
  'no_remote',
  'detached_head',
  'unfinished_merge',
  'unrelated_histories',
  'git_busy',
  'broken_file',
  'filtered_file',
  'nested_repository',
  'secret_found',
  'commit_failed',
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

/** What git printed on standard error, as a part of a sentence. */
export function saidBy(stderr: string): string {
  const lines = stderr
    .split('\n')
    .map((line) => line.replace(/^(?:fatal|error|remote): */, '').trim())
    .filter((line) => line !== '')
  const said = lines.slice(0, 3).join('; ').replace(/\.$/, '')
  // an address may contain a password
  return said.replace(/\/\/[^\s/@]+@/g, '//') || 'git gave no reason'
}
