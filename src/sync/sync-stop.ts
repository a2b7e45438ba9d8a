import { codeOf } from '../files/errno.ts'
import { GitError } from '../git/git-error.ts'
import { AppError } from '../model/app-error.ts'

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
  'program_of_run',
  'nested_repository',
  'secret_found',
  'commit_failed',
  'session_running',
  'code_changed',
  'code_to_push',
  'fetch_failed',
  'push_failed',
  'overtaken',
  'git_failed',
  'disk_failed',
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

/** The error as a reason to stop; null if it is a fault of the program. */
export function stopFor(error: unknown): SyncStop | null {
  if (error instanceof SyncStop) return error
  if (error instanceof AppError) return new SyncStop('disk_failed', error.message)
  if (!(error instanceof Error)) return null
  const code = codeOf(error)
  if (code !== '' && 'syscall' in error && String(error.syscall).startsWith('spawn')) {
    const why = error.message.startsWith('spawn ') ? code : error.message
    const message = `Git cannot be started (${why}). Check that it is installed, and that the folder of the record is there, then run it again.`
    return new SyncStop('git_failed', message)
  }
  if (code !== '' && 'syscall' in error) {
    const message = `The disk refused it: ${error.message}. Free space, or give permission, then run it again.`
    return new SyncStop('disk_failed', message)
  }
  if (!(error instanceof GitError)) return null
  return new SyncStop('git_failed', `${saidBy(error.message)}. Fix that, then run it again.`)
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
