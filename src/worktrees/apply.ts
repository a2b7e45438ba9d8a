/** Merges the branch of a session into the branch that is checked out in the working folder. */

import { join } from 'node:path'
import { gitFailed } from '../git/git-error.ts'
import { programObjection } from '../git/run-git.ts'
import { unfinishedWork } from '../git/unfinished-work.ts'
import { firstOf } from '../model/amounts.ts'
import { AppError } from '../model/app-error.ts'
import { trailerText } from '../model/commit-trailer.ts'
import type { Actor } from '../model/history.ts'
import type { Session } from '../model/session.ts'
import { lastOf } from '../model/trail.ts'
import { kindAt } from '../snapshots/worktree.ts'
import type { WorktreeNote, WorktreeNotes } from '../snapshots/worktree-notes.ts'
import { makeCommit } from '../sync/memory-commit.ts'
import { type MemoryGit, openTreeGit } from '../sync/memory-git.ts'
import { SyncStop } from '../sync/sync-stop.ts'
import { createBlobs, type TreeChange, treeChanges } from '../sync/trees.ts'
import { isInterrupted, moveTo, readTarget, recover } from '../sync/working-tree.ts'
import { mergeCommand } from './worktree-texts.ts'

interface Applied {
  /** The commit that the working folder is at now. */
  commit: string
  /** Its branch. */
  onto: string
}

/**
 * The merge is tried in memory first: a conflict, or a change of a file that a person has changed, throws and changes
 * nothing. Killed at any moment, the next start undoes it or finds it done. The caller clears `applying` of the note.
 */
export async function applyBranch(
  notes: WorktreeNotes,
  note: WorktreeNote,
  { session, by }: { session: Session; by: Actor },
): Promise<Applied> {
  const git = await openTreeGit(note.top)
  const work = unfinishedWork(git.gitDir)
  if (work !== null) throw cannot(`a ${work} has begun there and is not finished. Finish it`)
  const program = await programObjection({ cwd: note.top })
  if (program !== null)
    throw cannot(`${program}. Move it to your own with git config --global, or remove it`)
  const onto = await git.run(['symbolic-ref', '--quiet', '--short', 'HEAD'])
  if (onto.exit !== 0) throw cannot('no branch is checked out there. Run git switch <branch>')
  const branch = onto.stdout.toString().trim()
  const [head, theirs] = [await git.find('HEAD'), await git.find(`refs/heads/${note.branch}`)]
  if (head === null) throw cannot(`${branch} has no commit. Make the first one`)
  if (theirs === null) {
    throw new AppError(
      'wrong_state',
      `The branch ${note.branch} is gone, so there is nothing to apply.`,
    )
  }
  const base = (await git.text(['merge-base', head, theirs])).trim()
  if (base === theirs)
    throw new AppError('wrong_state', `${branch} has all commits of ${note.branch} already.`)
  await mustSpareRecord(git, note, [base, theirs])
  const tree = await mergedTree(git, { head, theirs, branch, note })
  const changes = await treeChanges(git, [head, tree])
  await mustBeClean(git, changes, branch)
  const commit =
    base === head ? theirs : await mergeCommit(git, { tree, head, theirs, branch, note, session })
  await notes.write({ ...note, applying: { from: head, to: commit, who: by.who, via: by.from } })
  try {
    await moveTo(git, createBlobs(git), { from: head, to: commit, changes }, () => undefined)
  } catch (error) {
    await notes.write({ ...note, applying: null })
    throw asAppError(error)
  }
  return { commit, onto: branch }
}

/** Undoes a merge that a service which died had begun. Returns whether it was done. */
export async function recoverApply(
  { top }: WorktreeNote,
  { to }: { to: string },
): Promise<boolean> {
  if ((await kindAt(top)) !== 'folder') return false
  const git = await openTreeGit(top)
  const target = await readTarget(git)
  // a sync of the record, which has files there too, is undone by its own rules
  if (isInterrupted(git.gitDir) && (target === null || target === to)) {
    await recover(git, createBlobs(git))
  }
  return (await git.run(['merge-base', '--is-ancestor', to, 'HEAD'])).exit === 0
}

function cannot(why: string): AppError {
  return new AppError(
    'wrong_state',
    `The work cannot be applied in the working folder: ${why}, then apply it again.`,
  )
}

/** Only the service writes the record, and its files would be merged as texts. */
async function mustSpareRecord(
  git: MemoryGit,
  { record, branch }: WorktreeNote,
  between: readonly [string, string],
): Promise<void> {
  if (record === null) return
  const files = (await treeChanges(git, between, `${record}/`)).map(({ path }) => path)
  if (files.length === 0) return
  throw new AppError(
    'record_on_branch',
    `Nothing was changed: the branch ${branch} changes files of the record, which only the service writes: ${firstOf(files, 10)}. Remove these changes from the branch, or discard it.`,
    { extra: { files } },
  )
}

interface Merge {
  head: string
  theirs: string
  /** The branch of the working folder. */
  branch: string
  note: WorktreeNote
}

async function mergedTree(git: MemoryGit, { head, theirs, branch, note }: Merge): Promise<string> {
  const args = ['merge-tree', '--write-tree', '--name-only', '-z', '--no-messages', head, theirs]
  const { exit, stdout, stderr } = await git.run(args)
  const [tree = '', ...rest] = stdout.toString().split('\0')
  if (exit === 0) return tree
  if (exit !== 1) throw gitFailed('merge-tree', stderr)
  const files = [...new Set(rest.filter((name) => name !== ''))]
  throw new AppError(
    'merge_conflict',
    `Nothing was changed: the branch ${note.branch} and ${branch} both changed ${firstOf(files, 10)}. Merge it in a terminal (${mergeCommand(note.branch) ?? 'git merge'}), or discard it and plan again from the present commit.`,
    { extra: { files } },
  )
}

/** A file that a person has changed, or put where the merge makes one, is never replaced. */
async function mustBeClean(
  git: MemoryGit,
  changes: readonly TreeChange[],
  branch: string,
): Promise<void> {
  const dirty = new Set((await git.text(['diff', '--name-only', '-z', 'HEAD'])).split('\0'))
  const files: string[] = []
  for (const { path, before } of changes) {
    const isTaken = before === null && (await kindAt(join(git.top, path))) !== null
    if (dirty.has(path) || isTaken) files.push(path)
  }
  if (files.length === 0) return
  throw new AppError(
    'merge_conflict',
    `Nothing was changed: the working folder has uncommitted changes on ${branch} in files that the work changes too: ${firstOf(files, 10)}. Commit or undo them, then apply it again.`,
    { extra: { files } },
  )
}

function mergeCommit(
  git: MemoryGit,
  { tree, head, theirs, branch, note, session }: Merge & { tree: string; session: Session },
): Promise<string> {
  const plan = lastOf(session.trail, 'plan_approved')?.fields.plan_sha256
  const { case_id, number } = note
  const trailer =
    typeof plan === 'string' ? trailerText({ case_id, session: number, plan_sha256: plan }) : ''
  const message = `Merge branch '${note.branch}' into ${branch}\n\n${trailer}\n`
  return makeCommit(git, { tree, parents: [head, theirs], message })
}

function asAppError(error: unknown): unknown {
  if (!(error instanceof SyncStop)) return error
  if (error.code === 'git_busy') {
    return new AppError(
      'git_busy',
      'Nothing was changed: another git works in the working folder (its index.lock is there). Try again when it has finished. If none runs, one was killed: remove that file.',
    )
  }
  if (error.code === 'files_changing') {
    return new AppError(
      'changed_meanwhile',
      'Nothing was changed: files that the work changes were saved, or git moved the branch, at the same time. Apply it again.',
    )
  }
  return new AppError('wrong_state', `Nothing was changed. ${error.message}`)
}
