import { type GitCommandOptions, gitText } from './run-git.ts'

export interface LoggedCommit {
  id: string
  parents: string[]
  author: string
  /** ISO 8601, UTC. */
  authored_at: string
  message: string
  /** What it changed, without detection of renames. Of a merge, in its first parent's tree, unless each parent is asked for. */
  changes: LoggedChange[]
}

export interface LoggedChange {
  /** Relative to the top of the repository. */
  path: string
  /** The object that the file has after the commit; null if the commit removes it. */
  object: string | null
  /** Whether the file was not there before. */
  isNew: boolean
}

/** The id that git gives for a file that is not there. */
const NOTHING = /^0+$/

const BEGIN = '\x1e'
const FORMAT = '--format=%x1e%H%x00%P%x00%aN <%aE>%x00%at%x00%B%x00'

/** Options for a commit that merges: compare it with its first parent, or with each. */
export const FIRST_PARENT = '--diff-merges=first-parent'
export const EACH_PARENT = '--diff-merges=separate'

/** Runs `git log` with these words, such as a range, and reads what it prints; newest first. */
export async function gitLog(words: string[], git: GitCommandOptions): Promise<LoggedCommit[]> {
  const options = ['--raw', '-z', '--no-abbrev', '--no-renames', '--encoding=UTF-8', FORMAT]
  const text = await gitText(
    ['-c', 'log.showSignature=false', 'log', ...options, '--no-ext-diff', '--no-color', ...words],
    git,
  )
  return readLog(text)
}

/**
 * Reads by position: a message contains no NUL, and a name follows its own entry, so neither can pass for a commit. A
 * commit that is compared with each of its parents comes once for each.
 */
function readLog(text: string): LoggedCommit[] {
  const parts = text.split('\0')
  const commits: LoggedCommit[] = []
  for (let at = 0; at < parts.length; at++) {
    const part = parts[at]!.replace(/^\n+/, '')
    const last = commits.at(-1)
    if (part.startsWith(BEGIN)) {
      const [parents = '', author = '', seconds = '', message = ''] = parts.slice(at + 1, at + 5)
      commits.push({
        id: part.slice(1),
        parents: parents === '' ? [] : parents.split(' '),
        author,
        authored_at: new Date(Number(seconds) * 1000).toISOString(),
        message,
        changes: [],
      })
      at += 4
    } else if (part.startsWith(':') && last) {
      const [, , before = '', after = ''] = part.split(' ')
      const object = NOTHING.test(after) ? null : after
      last.changes.push({ path: parts[++at]!, object, isNew: NOTHING.test(before) })
    }
  }
  return commits
}
