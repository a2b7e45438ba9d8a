/** Finds out whether git or a person deleted a file. */

import { hasCode } from '../../files/errno.ts'
import { runGit } from './git-command.ts'

/** Answers are cached for this time, as a start checks many files. */
const GOOD_FOR_MS = 2000
const MAX_BYTES = 256 * 1024 * 1024
const TIMEOUT_MS = 10_000
const HISTORY =
  'log --all --reflog --full-history --no-renames --diff-filter=A --format= --name-only --relative -z -- .'

interface Lists {
  /** The files in git's index, which git expects to exist. */
  tracked: Set<string>
  /** Every file that a commit added on any branch, the stash or in the reflog. */
  committed: Set<string>
}

/**
 * Returns whether git deleted a missing file. A branch switch, reset, stash or `git rm` leaves it in a commit but not
 * in the index. A file that is still in the index, or was never committed, was deleted by a person. Paths are
 * relative to `folder`.
 */
export function createGitDeletions(folder: string, log: (line: string) => void) {
  let lists: Promise<Lists | null> | null = null
  let askedAt = Number.NEGATIVE_INFINITY

  async function list(command: string): Promise<Set<string> | null> {
    const options = { cwd: folder, maxBytes: MAX_BYTES, timeoutMs: TIMEOUT_MS }
    const { exit, stdout } = await runGit(command.split(' '), options)
    return exit === 0 ? new Set(stdout.toString().split('\0')) : null
  }

  /** Null without a repository or git. */
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
