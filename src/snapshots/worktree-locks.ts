import { lstat, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { hasCode } from '../files/errno.ts'
import type { WorktreeNote, WorktreePlaces } from './worktree-notes.ts'

/** A git at work has such a lock for a moment only. */
const WAIT_MS = 2_000
const LOOK_MS = 50
/** File systems store times less precisely than the clock. */
const TOLERANCE_MS = 1_000

/** Removes locks that a killed git left, which would stop every later git: those since the stage of the note began. */
export async function removeLocks(
  { common, branch, since }: Pick<WorktreeNote, 'common' | 'branch' | 'since'>,
  { entry }: WorktreePlaces,
): Promise<void> {
  const paths = [
    join(entry, 'index.lock'),
    join(entry, 'HEAD.lock'),
    join(common, 'refs', 'heads', `${branch}.lock`),
    join(common, 'packed-refs.lock'),
  ]
  await Promise.all(paths.map((path) => removeLock(path, since)))
}

async function removeLock(path: string, since: number): Promise<void> {
  const first = await stampAt(path)
  if (first === null || first.mtimeMs < since - TOLERANCE_MS) return
  const until = performance.now() + WAIT_MS
  while (performance.now() < until) {
    await delay(LOOK_MS)
    const present = await stampAt(path)
    if (present?.ino !== first.ino || present.mtimeMs !== first.mtimeMs) return
  }
  await rm(path, { force: true })
}

async function stampAt(path: string) {
  try {
    const { ino, mtimeMs } = await lstat(path)
    return { ino, mtimeMs }
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return null
    throw error
  }
}
