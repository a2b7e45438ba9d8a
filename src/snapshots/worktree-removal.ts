/** Removes a worktree once nothing is in it that exists nowhere else. Its branch stays if only it has some commit. */

import { rename, rmdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { hasCode } from '../files/errno.ts'
import { removeStubborn } from '../files/remove-stubborn.ts'
import { gitText, runGit } from '../git/run-git.ts'
import { AppError } from '../model/app-error.ts'
import { kindAt } from './worktree.ts'
import { removeLocks } from './worktree-locks.ts'
import { type WorktreeNote, type WorktreeNotes, worktreePaths } from './worktree-notes.ts'

const TIME = { timeoutMs: 60_000 }

/** How many commits only this branch has. */
export async function commitsOnlyOn({ common, branch }: WorktreeNote): Promise<number> {
  const git = { ...TIME, cwd: common, env: { GIT_DIR: common } }
  const ref = `refs/heads/${branch}`
  const others = ['--not', `--exclude=${branch}`, '--branches', '--remotes', '--tags']
  const { exit, stdout } = await runGit(['rev-list', '--count', ref, ...others], git)
  return exit === 0 ? Number(stdout.toString().trim()) : 0
}

/** The names of what is being removed. */
const AWAY = '.removing'

/**
 * Removes the folder, git's entry of it, and the branch if all its commits are on another one. The note says
 * `removing` already, and goes last: after a crash the next start goes on.
 */
export async function removeWorktree(notes: WorktreeNotes, note: WorktreeNote): Promise<void> {
  const places = worktreePaths(notes.root, note)
  const away = `${places.tree}${AWAY}`
  await removeLocks(note, places)
  // all at once, so that there is never half a worktree
  await rename(places.tree, away).catch((error: unknown) => {
    if (!hasCode(error, 'ENOENT', 'ENOTEMPTY', 'EEXIST')) throw error
  })
  for (const path of [away, places.tree, places.own, places.entry]) {
    const why = await removeStubborn(path)
    if (why === null) continue
    throw new AppError(
      'storage_failed',
      `Not all of the worktree could be removed (${why}). Remove ${path} by hand, and discard it again.`,
    )
  }
  await rmdir(dirname(places.entry)).catch(() => {}) // other worktrees are there
  await removeBranch(note)
  await notes.remove(note.session_id)
}

async function removeBranch(note: WorktreeNote): Promise<void> {
  const { common, branch } = note
  if ((await kindAt(common)) !== 'folder') return
  const git = { ...TIME, cwd: common, env: { GIT_DIR: common } }
  const ref = `refs/heads/${branch}`
  const found = await runGit(['rev-parse', '--verify', '--quiet', ref], git)
  if (found.exit !== 0 || (await commitsOnlyOn(note)) > 0) return
  // git refuses if the branch got another commit meanwhile
  const head = found.stdout.toString().trim()
  await gitText(['update-ref', '-d', ref, head], git)
}

/** Whether nothing is left of the worktree, its branch apart. */
export async function isGone(notes: WorktreeNotes, note: WorktreeNote): Promise<boolean> {
  const { tree, own, entry } = worktreePaths(notes.root, note)
  const kinds = await Promise.all(
    [tree, own, entry, join(notes.root, `${note.session_id}${AWAY}`)].map(kindAt),
  )
  return kinds.every((kind) => kind === null)
}
