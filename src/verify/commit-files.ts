import { posix } from 'node:path'
import type { LoggedCommit } from '../git/log.ts'
import { type GitCommandOptions, gitText } from '../git/run-git.ts'
import type { Session } from '../model/session.ts'
import { sessionResults } from '../model/session-results.ts'
import { lastOf, standingApproval } from '../model/trail.ts'
import { changeHashes } from '../snapshots/change-hash.ts'
import { isResult } from './same-file.ts'

/** What a session has to do with a file of a commit: it left it so, changed it otherwise, or did not change it. */
export type FileStanding = 'left' | 'differs' | 'not_changed'

/**
 * Compares a file of a commit with what a session left. Where that is not known (the record is of an older version, or
 * lists not all files), and of a commit that was made while the session ran, the name decides.
 */
export async function fileStanding(
  session: Session,
  commit: LoggedCommit,
  file: string,
  git: GitCommandOptions,
): Promise<FileStanding> {
  const results = sessionResults(session)
  if (results === null) return standingByName(session, file)
  const found = [...results.files].find(([name]) => isSameName(name, file))
  if (!found) return results.isCut ? 'left' : 'not_changed'
  if (isDuring(session, commit)) return 'left'
  const [, result] = found
  const object = commit.changes.find(({ path }) => path === file)?.object ?? null
  if (await isResult(object, result, git)) return 'left'
  if (result.change === null || object === null) return 'differs'
  const [change] = changeHashes(await patchOf(commit, file, git))
  return change?.startsWith(result.change) ? 'left' : 'differs'
}

/** A session names files from its working folder, which may be a folder of the repository. */
function isSameName(name: string, file: string): boolean {
  return name === file || file.endsWith(`/${posix.normalize(name).replace(/^(?:\.\.\/)+/, '')}`)
}

function standingByName({ diff, trail }: Session, file: string): FileStanding {
  if (!diff) return 'left'
  const names = diff.files?.map((each) => each.file) ?? [diff.file]
  const count = lastOf(trail, 'diff_taken')?.fields.files
  if (typeof count === 'number' && count > names.length) return 'left'
  return names.some((name) => isSameName(name, file)) ? 'left' : 'not_changed'
}

/** A session may commit several times, and change the same file after that. */
function isDuring({ trail, completed_at }: Session, { authored_at }: LoggedCommit): boolean {
  const approved = standingApproval(trail)?.time
  return (
    approved !== undefined &&
    completed_at !== null &&
    authored_at.slice(0, 19) >= approved.slice(0, 19) &&
    authored_at.slice(0, 19) < completed_at.slice(0, 19)
  )
}

/** What a commit changes in a file. A rebase keeps it, and not the whole file. */
function patchOf(
  { id, parents }: LoggedCommit,
  file: string,
  git: GitCommandOptions,
): Promise<string> {
  const options = ['-r', '-p', '--no-renames', '--no-ext-diff', '--no-textconv', '--no-color']
  const trees = parents[0] === undefined ? ['--root', '--no-commit-id', id] : [parents[0], id]
  return gitText(['diff-tree', ...options, ...trees, '--', `:(top,literal)${file}`], git)
}
