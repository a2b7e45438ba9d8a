/** Whether git or a person deleted a file. */

import { hasCode } from '../../files/errno.ts'
import { runGit } from './git-command.ts'

/** An answer is used again for so long: a start asks for many files. */
const GOOD_FOR_MS = 2000
const MAX_BYTES = 256 * 1024 * 1024
const TIMEOUT_MS = 10_000
const HISTORY =
  'log --all --reflog --full-history --no-renames --diff-filter=A --format= --name-only --relative -z -- .'

interface Lists {
  /** The files that git has in its index: it expects them to be there. */
  tracked: Set<string>
  /** Every file that a commit added, of any branch, the stash, or one that only the reflog has. */
  committed: Set<string>
}

/**
 * Tells whether a file that is gone was taken away by git: a switch of branches, a reset, a stash or `git rm` leaves
 * it in a commit and not in the index. One that the index still has, or that no commit ever had, was deleted by
 * hand. Paths are relative to `folder`.
 */
export function createGitDeletions(folder: string, log: (line: string) => void) {
  let lists: Promise<Lists | null> | null = null
  let askedAt = Number.NEGATIVE_INFINITY

  async function list(command: string): Promise<Set<string> | null> {
    const options = { cwd: folder, maxBytes: MAX_BYTES, timeoutMs: TIMEOUT_MS }
    const { exit, stdout } = await runGit(command.split(' '), options)
    return exit === 0 ? new Set(stdout.toString().split('\0')) : null
  }

  /** Null where there is no repository, or no git. */
  async function ask(): Promise<Lists | null> {
    try {
      const [tracked, committed] = await Promise.all([list('ls-files -z'), list(HISTORY)])
      return tracked && committed && { tracked, committed }
    } catch (error) {
      if (!hasCode(error, 'ENOENT')) throw error
      return null
    }
  }

  return async (path: string): Promise<boolean> => {
    if (performance.now() - askedAt > GOOD_FOR_MS) {
      askedAt = performance.now()
      lists = ask()
    }
    try {
      const found = await lists
      return found ? !found.tracked.has(path) && found.committed.has(path) : false
    } catch (error) {
      log(`git did not say whether it took ${path} away: ${String(error)}`)
      return true
    }
  }
}
