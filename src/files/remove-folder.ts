/** Deletes a case's folder: moves it to the trash in the state folder, then removes it there. */

import { randomBytes } from 'node:crypto'
import { readdir, rename } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { confirmFolder, makeFolder } from './durable-write.ts'
import { hasCode, isBarred } from './errno.ts'
import { removeStubborn } from './remove-stubborn.ts'
import { storageError } from './storage-error.ts'
import { isTrashName, trashName } from './temp-files.ts'

const TRASH_ENTRY = /^[0-9a-f]{24}$/

/**
 * Moves a folder out of the tree atomically, then deletes it; links in it are removed, not followed. Returns true if
 * it existed. What cannot be deleted (an immutable file, a process that still writes) stays in the trash until
 * `emptyTrash` at the next start.
 */
export async function removeFolder(path: string, trashFolder: string): Promise<boolean> {
  await makeFolder(trashFolder, 0o700)
  const away = await moveAway(path, join(trashFolder, randomBytes(12).toString('hex')))
  if (away === null) return false
  await removeStubborn(away)
  return true
}

/**
 * Deletes what interrupted removals left in the trash and, under hidden names if the trash is on another file system,
 * directly in `treeFolder`. Only the owner calls it, at start.
 */
export async function emptyTrash(trashFolder: string, treeFolder: string): Promise<void> {
  for (const name of await namesIn(trashFolder)) {
    if (TRASH_ENTRY.test(name)) await removeStubborn(join(trashFolder, name))
  }
  for (const name of await namesIn(treeFolder)) {
    if (isTrashName(name)) await removeStubborn(join(treeFolder, name))
  }
}

async function moveAway(path: string, trashed: string): Promise<string | null> {
  const away = await renameTo(path, trashed, trashName(path))
  if (away !== null) await confirmFolder(dirname(path))
  return away
}

async function renameTo(path: string, first: string, second?: string): Promise<string | null> {
  try {
    await rename(path, first)
    return first
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return null
    if (second && hasCode(error, 'EXDEV')) return renameTo(path, second)
    throw storageError(error, path)
  }
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder)
  } catch (error) {
    if (isBarred(error) || hasCode(error, 'ENOENT', 'ENOTDIR')) return []
    throw error
  }
}
