/**
 * Deletes a folder that a program filled: paths too long, folders without permissions, names that
 * are not UTF-8.
 */

import { randomBytes } from 'node:crypto'
import { constants, type Dirent } from 'node:fs'
import { chmod, type FileHandle, open, readdir, rename, rmdir, unlink } from 'node:fs/promises'
import { openFilePath, SHOWS_OPEN_FILES } from '../platform/proc.ts'
import { codeOf, hasCode } from './errno.ts'

const FOLDERS_AT_ONCE = 16
const ENTRIES_AT_ONCE = 64
/** Retries, as a program that is ending may still add a file. */
const ATTEMPTS = 3

/**
 * Removes everything at a path, including folders deeper than the longest path or without permissions. Follows no
 * links and crosses no mounts. Returns null once it is gone, else the error code that kept a part of it (an immutable
 * file: EPERM), with everything else removed.
 */
export async function removeStubborn(path: string): Promise<string | null> {
  let errorCode: string | null = null
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    errorCode = await removeOnce(Buffer.from(path))
    if (errorCode === null) return null
  }
  return errorCode
}

/** Runs a removal. If it fails, records the first error code and does not throw. */
type Attempt = (removal: () => Promise<unknown>) => Promise<void>

async function removeOnce(path: Buffer): Promise<string | null> {
  let errorCode: string | null = null
  const attempt: Attempt = async (removal) => {
    try {
      await removal()
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return
      if (codeOf(error) === '') throw error
      errorCode ??= codeOf(error)
    }
  }
  await attempt(() => removeFolderAt(path, attempt, (top) => emptyTree(top, attempt)))
  return errorCode
}

/** Moves all folders of the tree directly into its top folder, so that no path gets too long. */
async function emptyTree(top: OpenedFolder, attempt: Attempt): Promise<void> {
  const moveUp = createMoveUp(top)
  const pending = await emptyFolder(top, attempt, moveUp)
  const remove = (name: string) =>
    removeFolderAt(top.at(name), attempt, async (folder) => {
      // not spread, as there may be more names than a call accepts arguments
      for (const inner of await emptyFolder(folder, attempt, moveUp)) pending.push(inner)
    })
  while (pending.length > 0) {
    const batch = pending.splice(-FOLDERS_AT_ONCE)
    await Promise.all(batch.map((name) => attempt(() => remove(name))))
  }
}

/** Empties and removes a folder. Removes whatever is at the path, even if it is no folder any more. */
async function removeFolderAt(
  path: Buffer,
  attempt: Attempt,
  empty: (folder: OpenedFolder) => Promise<void>,
): Promise<void> {
  const folder = await openFolder(path)
  if (folder === null) return unlink(path)
  try {
    await empty(folder)
  } finally {
    await folder.close()
  }
  await attempt(() => rmdir(path))
}

type MoveUp = (from: Buffer) => Promise<string>

/** Returns a function that moves a folder to a new name in the top folder. */
function createMoveUp(top: OpenedFolder): MoveUp {
  const prefix = randomBytes(6).toString('hex')
  let count = 0
  return async (from) => {
    count += 1
    const name = `${prefix}-${count}`
    try {
      await rename(from, top.at(name))
    } catch (error) {
      if (!hasCode(error, 'EACCES', 'EPERM')) throw error
      // a moved folder must be writable too, as its `..` changes
      await grantAccess(from)
      await rename(from, top.at(name))
    }
    return name
  }
}

/** Empties a folder: removes files and empty folders, moves other folders up, and returns their new names. */
async function emptyFolder(
  folder: OpenedFolder,
  attempt: Attempt,
  moveUp: MoveUp,
): Promise<string[]> {
  const moved: string[] = []
  const entries = await folder.entries()
  for (let at = 0; at < entries.length; at += ENTRIES_AT_ONCE) {
    const batch = entries.slice(at, at + ENTRIES_AT_ONCE).map((entry) => {
      const path = folder.at(entry.name)
      if (!entry.isDirectory()) return attempt(() => unlink(path))
      return attempt(async () => {
        if (!(await removeIfEmpty(path))) moved.push(await moveUp(path))
      })
    })
    await Promise.all(batch)
  }
  return moved
}

/** Returns false if the folder has entries or cannot be removed yet. */
async function removeIfEmpty(path: Buffer): Promise<boolean> {
  try {
    await rmdir(path)
    return true
  } catch (error) {
    if (hasCode(error, 'ENOTEMPTY', 'EEXIST', 'EACCES', 'EPERM', 'EBUSY')) return false
    throw error
  }
}

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants

/** Linux only, and not a constant of Node: opens files without read permission. */
const O_PATH = 0o10000000

/** A folder kept open while its contents are removed. Names are strings of bytes (latin1). */
interface OpenedFolder {
  entries(): Promise<Dirent[]>
  /** The path of a name in this folder, even if the folder's name is reused; its plain path where there is none. */
  at(name: string): Buffer
  close(): Promise<void>
}

/** Grants the owner all rights to a folder. Null if it is not a folder, or a link to one. */
async function openFolder(path: Buffer): Promise<OpenedFolder | null> {
  const handle = await openWithPermission(path)
  if (handle === null) return null
  const opened = openFilePath(handle.fd)
  const ownPath = opened === null ? path : Buffer.from(opened)
  return {
    entries: () => readdir(ownPath, { withFileTypes: true, encoding: 'latin1' }),
    at: (name) => Buffer.concat([ownPath, Buffer.from(`/${name}`, 'latin1')]),
    close: () => handle.close(),
  }
}

/** Opens a folder, after granting its owner access if necessary. */
async function openWithPermission(path: Buffer): Promise<FileHandle | null> {
  try {
    return await openWritable(path)
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR', 'ELOOP')) return null
    if (!hasCode(error, 'EACCES')) throw error
    await grantAccess(path)
    return openWritable(path)
  }
}

async function openWritable(path: Buffer): Promise<FileHandle> {
  const handle = await open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
  try {
    await handle.chmod(0o700)
  } catch (error) {
    // it belongs to another user; later calls show whether removal is allowed
    if (hasCode(error, 'EPERM', 'EROFS')) return handle
    await handle.close()
    throw error
  }
  return handle
}

/** Gives the owner of a folder all rights to it. */
async function grantAccess(path: Buffer): Promise<void> {
  if (!SHOWS_OPEN_FILES) return chmod(path, 0o700)
  const handle = await open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW)
  try {
    await chmod(openFilePath(handle.fd) ?? path, 0o700)
  } finally {
    await handle.close()
  }
}
