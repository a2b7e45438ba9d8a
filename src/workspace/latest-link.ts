/** Sets and removes the link `sessions/latest.md`. It is not synced, as the next start sets it again after a crash. */

import { lstatSync, readlinkSync, renameSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { hasCode } from '../files/errno.ts'
import { discardNow } from '../files/new-file.ts'
import { type PinnedFolder, pinFolder } from '../files/pinned-folder.ts'
import { stampNow } from '../files/read-now.ts'
import { storageError } from '../files/storage-error.ts'
import { tempName } from '../files/temp-files.ts'
import { conflictName } from '../markdown/conflict-name.ts'

/**
 * Points the link at a session atomically. A plain file that an editor put in its place becomes a conflict copy. Returns
 * false if nothing was to be done, if the file system has no links, or if something else has the name.
 */
export function setLatest(sessionsFolder: string, number: number, time: string): Promise<boolean> {
  return inFolder(sessionsFolder, async (folder, latest) => {
    const target = `${number}.md`
    if (isLink(latest) && readlinkSync(latest) === target) return false
    if (lstatSync(latest, { throwIfNoEntry: false })?.isFile()) await keepCopy(folder, latest, time)
    const temp = tempName(latest)
    try {
      symlinkSync(target, temp)
    } catch (error) {
      if (hasCode(error, 'EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS')) return false
      throw error
    }
    try {
      // synchronously, so that a file an editor puts there is not replaced
      const isFree = isLink(latest) ?? true
      if (isFree) renameSync(temp, latest)
      return isFree
    } finally {
      discardNow(temp)
    }
  })
}

/** Removes the link when no session is left. */
export function removeLatest(sessionsFolder: string): Promise<void> {
  return inFolder(sessionsFolder, async (_, latest) => {
    if (isLink(latest)) discardNow(latest)
  })
}

function isLink(path: string): boolean | undefined {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()
}

function keepCopy(folder: PinnedFolder, latest: string, time: string): Promise<void> {
  let count = 1
  const copy = () => join(folder.path, conflictName('latest.md', time, count))
  while (stampNow(copy())) count++
  renameSync(latest, copy())
  return folder.sync()
}

async function inFolder<T>(
  sessionsFolder: string,
  work: (folder: PinnedFolder, latest: string) => Promise<T>,
): Promise<T> {
  try {
    const folder = pinFolder(sessionsFolder, dirname(sessionsFolder))
    try {
      return await work(folder, join(folder.path, 'latest.md'))
    } finally {
      folder.close()
    }
  } catch (error) {
    throw storageError(error, join(sessionsFolder, 'latest.md'))
  }
}
