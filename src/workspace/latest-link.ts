/** Makes and removes the link `sessions/latest.md`. */

import { lstatSync, readlinkSync, renameSync, symlinkSync } from 'node:fs'
import { rename } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { hasCode } from '../files/errno.ts'
import { discard } from '../files/new-file.ts'
import { type PinnedFolder, pinFolder } from '../files/pinned-folder.ts'
import { stampOf } from '../files/safe-read.ts'
import { storageError } from '../files/storage-error.ts'
import { tempName } from '../files/temp-files.ts'
import { conflictName } from './late-saves/conflict-copy.ts'

/**
 * `in_the_way`: a file has that name (an editor replaced the link), and is left alone.
 * `not_supported`: the file system has no symbolic links.
 */
type PointResult = 'pointed' | 'already' | 'in_the_way' | 'not_supported'

/**
 * Lets `latest.md` name session `number`, in one step: no reader ever finds it missing. It is not synced, as what a
 * crash takes away the next start makes again.
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
      // at once: what an editor put there since is not replaced
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

/** Removes the link where no session is left for it to name. */
export function removeLatest(sessionsFolder: string): Promise<void> {
  return inFolder(sessionsFolder, async (folder) => {
    const latest = join(folder.path, 'latest.md')
    if (typeof linkTarget(latest) === 'string') await discard(latest)
  })
}

/** Null when nothing is there, undefined when it is not a link. */
function linkTarget(path: string): string | null | undefined {
  try {
    return readlinkSync(path)
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return null
    if (hasCode(error, 'EINVAL')) return undefined
    throw error
  }
}

/**
 * An editor that saves by a rename puts a plain file in place of the link: it is kept as a conflict
 * copy, whatever it is by now.
 */
export function keepStrayLatest(sessionsFolder: string, time: string): Promise<void> {
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
