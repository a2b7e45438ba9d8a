import { resolve } from 'node:path'
import { readRegular, stampOf } from '../files/safe-read.ts'
import { type GitCommandOptions, gitText, runGit } from '../git/run-git.ts'
import { AppError } from '../model/app-error.ts'
import { readTrailers, trailerText } from '../model/commit-trailer.ts'
import type { NamedSession } from './named-sessions.ts'

const MAX_MESSAGE_BYTES = 8 * 1024 * 1024

/**
 * Adds a trailer for each session to the message that git is about to commit, and returns those that were added. A
 * message without words stays empty, so that git still stops such a commit.
 */
export async function nameInMessage(
  file: string,
  sessions: readonly NamedSession[],
  git: GitCommandOptions,
): Promise<NamedSession[]> {
  const read = await readRegular(file, { maxBytes: MAX_MESSAGE_BYTES })
  if (!read.ok) throw new AppError('unreadable_file', `The message cannot be read: ${read.detail}.`)
  const message = read.bytes.toString()
  if (!(await hasWords(message, git))) return []
  const present = new Set(readTrailers(message).map(({ text }) => text))
  const added = sessions.filter((session) => !present.has(trailerValue(session)))
  if (added.length === 0) return []
  const trailers = added.flatMap((session) => ['--trailer', trailerText(session)])
  const words = ['--in-place', '--no-divider', '--if-exists', 'addIfDifferent', ...trailers]
  await gitText(['interpret-trailers', ...words, '--', file], git)
  return added
}

function trailerValue(session: NamedSession): string {
  return trailerText(session).replace(/^[^:]+: /, '')
}

/** Whether anything is left of it without comments, and without the diff that `git commit -v` puts below it. */
async function hasWords(message: string, git: GitCommandOptions): Promise<boolean> {
  const [written] = message.split(/^. -+ >8 -+$/m)
  const { stdout } = await runGit(['stripspace', '--strip-comments'], { ...git, input: written! })
  return stdout.length > 0
}

/** What git keeps in its folder while it makes commits out of others. */
const BETWEEN_COMMITS = [
  'rebase-merge',
  'rebase-apply',
  'MERGE_HEAD',
  'CHERRY_PICK_HEAD',
  'REVERT_HEAD',
  'SQUASH_MSG',
]

/** Whether git makes a commit out of others, whose messages name their sessions already. */
export async function isOfOthers(git: GitCommandOptions): Promise<boolean> {
  const words = BETWEEN_COMMITS.flatMap((name) => ['--git-path', name])
  const paths = (await gitText(['rev-parse', ...words], git))
    .split('\n')
    .filter((path) => path !== '')
  const found = await Promise.all(paths.map((path) => stampOf(resolve(git.cwd, path))))
  return found.some((stamp) => stamp !== null)
}
