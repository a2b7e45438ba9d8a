import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { stampOf } from '../files/safe-read.ts'
import type { WorktreeNote, WorktreePaths } from './worktree-notes.ts'

/** A git at work has such a lock for a moment only. */
const WAIT_MS = 2_000
/** File systems store times less precisely than the clock. */
const TOLERANCE_MS = 1_000

/** Removes locks that a killed git left, which would stop every later git: those since the stage of the note began. */
export async function removeLocks(
  { common, branch, since }: Pick<WorktreeNote, 'common' | 'branch' | 'since'>,
  { entry }: WorktreePaths,
): Promise<void> {
  const paths = [
    join(entry, 'index.lock'),
    join(entry, 'HEAD.lock'),
    join(common, 'refs', 'heads', `${branch}.lock`),
    join(common, 'packed-refs.lock'),
  ]
  const stamps = () => Promise.all(paths.map((path) => stampOf(path)))
  const before = await stamps()
  const isOurs = before.map((stamp) => stamp !== null && stamp.mtimeMs >= since - TOLERANCE_MS)
  if (!isOurs.includes(true)) return
  await delay(WAIT_MS)
  for (const [at, now] of (await stamps()).entries())
    if (isOurs[at] && now?.ino === before[at]?.ino && now?.mtimeMs === before[at]?.mtimeMs)
      await rm(paths[at]!, { force: true })
}
