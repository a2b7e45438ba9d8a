/** When a sync must stop. */

import { unfinishedWork } from '../git/unfinished-work.ts'
import { counted } from '../model/amounts.ts'
import { brokenFiles } from './broken-files.ts'
import { countUnpushed } from './commits.ts'
import { isShared, type MemoryGit, type Upstream } from './memory-git.ts'
import type { SyncResult } from './sync-result.ts'
import { SyncStop } from './sync-stop.ts'
import { type Blobs, below, GITLINK, type TreeChange } from './trees.ts'

export function mustBeFinished(git: MemoryGit): void {
  const work = unfinishedWork(git.gitDir)
  if (work === null) return
  throw new SyncStop(
    'unfinished_merge',
    `A ${work} is not finished in ${git.top}. Finish it, or undo it with: git -C ${git.top} ${work} --abort`,
  )
}

export function mustBeWhole(broken: readonly { file: string; message: string }[], then = ''): void {
  const [first] = broken
  if (!first) return
  const more = broken.length > 1 ? ` (and ${counted(broken.length - 1, 'more file')})` : ''
  throw new SyncStop(
    'broken_file',
    `${first.file} cannot be shared: ${first.message}${more}.${then} Fix it, then sync again. Every problem: casefile doctor --check`,
  )
}

/** Git would store only the name of a commit of such a folder. */
export function mustHaveNoRepository(changes: readonly TreeChange[]): void {
  const found = changes.find(({ after }) => after?.mode === GITLINK)
  if (found) throw nestedRepository(found.path)
}

export function nestedRepository(path: string): SyncStop {
  return new SyncStop(
    'nested_repository',
    `The folder ${path} is a git repository, which cannot be shared as a part of this one. Move it out of the record, or remove its .git, then sync again.`,
  )
}

/** A file may come broken from the remote, but the merge must not break one. */
export async function mustNotBreak(
  blobs: Blobs,
  changes: readonly TreeChange[],
  incoming: readonly TreeChange[],
  result: SyncResult,
): Promise<void> {
  const broken = await brokenFiles(blobs, changes)
  const theirs = new Map(incoming.map(({ path, after }) => [path, after?.id]))
  const after = new Map(changes.map((change) => [change.path, change.after?.id]))
  const own = broken.find(({ file }) => theirs.get(file) !== after.get(file))
  if (own) mustBeWhole([own])
  result.broken = broken
}

export function mustTouchRecordAlone(git: MemoryGit, incoming: readonly TreeChange[]): void {
  const other = incoming.find(({ path }) => !isShared(git, path))
  if (!other) return
  throw new SyncStop(
    'code_changed',
    `The remote has changes of the code too (${other.path}), which only you may merge. Run: git pull, then sync again.`,
  )
}

/** Code that is committed but not pushed is pushed by its author. */
export async function mustBeRecord(
  git: MemoryGit,
  tip: string,
  { remote, branch, isSet, theirs }: Upstream & { theirs: string | null },
): Promise<void> {
  if (git.prefix === '') return
  const paths = ['--', '.', `:(top,exclude,literal)${git.prefix.slice(0, -1)}`]
  const count = await countUnpushed(git, tip, { remote, theirs, paths })
  const known = ['--not', `--remotes=${remote}`, ...(theirs === null ? [] : [theirs])]
  const args = ['log', '--no-show-signature', '--format=', '--name-only', '-z', '--no-renames', tip]
  const names = await git.text([...args, ...known, ...below(git.prefix)])
  const code = names.split('\0').find((name) => name !== '' && !isShared(git, name))
  if (count === 0 && code === undefined) return
  const what = count > 0 ? `${counted(count, 'commit')} with code` : `A commit with ${code}`
  const command = isSet ? 'git push' : `git push -u ${remote} ${branch}`
  throw new SyncStop('code_to_push', `${what} would be pushed too. Run: ${command}`)
}

export function overtaken(result: SyncResult, times: number): SyncStop {
  return new SyncStop(
    'overtaken',
    `Others pushed to ${result.upstream} ${times} times while this was merging. Your changes are committed and merged here. Run it again.`,
  )
}

interface LeftWork {
  work: string
  resolved: readonly string[]
  edited: readonly string[]
  /** All paths that are still in conflict. */
  left: readonly string[]
}

/** What a person must do to finish what git has begun. */
export function unfinished(git: MemoryGit, { work, resolved, edited, left }: LeftWork): SyncStop {
  const done =
    resolved.length === 0
      ? `A ${work} is not finished in ${git.top}.`
      : `A ${work} is not finished in ${git.top}. ${counted(resolved.length, 'file')} of the record ${resolved.length === 1 ? 'is' : 'are'} resolved and staged.`
  const open = left.filter((path) => !edited.includes(path))
  const todo = [
    ...(edited.length > 0
      ? [`You have begun to resolve ${edited.join(', ')}: finish it, then git add it.`]
      : []),
    ...(open.length > 0 ? [`Still in conflict: ${open.slice(0, 10).join(', ')}.`] : []),
  ]
  const next = work === 'merge' ? 'git commit' : `git ${work} --continue`
  return new SyncStop(
    'unfinished_merge',
    [done, ...todo, `${todo.length > 0 ? 'Then run' : 'Run'}: ${next}, and sync again.`].join(' '),
  )
}
