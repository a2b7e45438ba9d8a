/** Sets and removes the link `sessions/latest.md`. */

import { lstatSync, readlinkSync, renameSync, symlinkSync } from 'node:fs'
import { rename } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { hasCode } from '../files/errno.ts'
import { discard } from '../files/new-file.ts'
import { type PinnedFolder, pinFolder } from '../files/pinned-folder.ts'
import { stampOf } from '../files/safe-read.ts'
import { storageError } from '../files/storage-error.ts'
import { tempName } from '../files/temp-files.ts'
import { conflictName } from '../markdown/conflict-name.ts'

/**
 * `in_the_way`: a file has that name (an editor replaced the link) and is left unchanged. `not_supported`: the file
 * system has no symbolic links.
 */
type PointResult = 'pointed' | 'already' | 'in_the_way' | 'not_supported'

/**
 * Points `latest.md` at session `number` atomically. It is not synced, as the next start sets it again after a crash.
 */
export function pointLatest(sessionsFolder: string, number: number): Promise<PointResult> {
  return inFolder(sessionsFolder, async (folder) => {
    const latest = join(folder.path, 'latest.md')
    const target = `${number}.md`
    const present = linkTarget(latest)
    if (present === undefined) return 'in_the_way'
    if (present === target) return 'already'
    const temp = tempName(latest)
    try {
      symlinkSync(target, temp)
    } catch (error) {
      if (hasCode(error, 'EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS')) return 'not_supported'
      throw error
    }
    try {
      // synchronously, so that a file an editor puts there is not replaced
      const isFree = lstatSync(latest, { throwIfNoEntry: false })?.isSymbolicLink() ?? true
      if (isFree) renameSync(temp, latest)
      else await discard(temp)
      return isFree ? 'pointed' : 'in_the_way'
    } catch (error) {
      await discard(temp)
      throw error
    }
  })
}

/** Removes the link when no session is left. */
export function removeLatest(sessionsFolder: string): Promise<void> {
  return inFolder(sessionsFolder, async (folder) => {
    const latest = join(folder.path, 'latest.md')
    if (typeof linkTarget(latest) === 'string') await discard(latest)
  })
}

/** Returns null if nothing exists, undefined if it is not a link. */
function linkTarget(path: string): string | null | undefined {
  try {
    return readlinkSync(path)
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return null
    if (hasCode(error, 'EINVAL')) return undefined
    throw error
  }
}

/** The same, but a plain file that an editor put in place of the link becomes a conflict copy. */
export async function setLatest(
  sessionsFolder: string,
  number: number,
  time: string,
): Promise<PointResult> {
  const result = await pointLatest(sessionsFolder, number)
  if (result !== 'in_the_way') return result
  await keepStrayLatest(sessionsFolder, time)
  return pointLatest(sessionsFolder, number)
}

function keepStrayLatest(sessionsFolder: string, time: string): Promise<void> {
  return inFolder(sessionsFolder, async (folder) => {
    const latest = join(folder.path, 'latest.md')
    if (!lstatSync(latest, { throwIfNoEntry: false })?.isFile()) return
    for (let count = 1; ; count++) {
      const copy = join(folder.path, conflictName('latest.md', time, count))
      if (await stampOf(copy)) continue
      await rename(latest, copy)
      return folder.sync()
    }
  })
}

async function inFolder<T>(
  sessionsFolder: string,
  work: (folder: PinnedFolder) => Promise<T>,
): Promise<T> {
  try {
    const folder = pinFolder(sessionsFolder, dirname(sessionsFolder))
    try {
      return await work(folder)
    } finally {
      folder.close()
    }
  } catch (error) {
    throw storageError(error, join(sessionsFolder, 'latest.md'))
  }
}
