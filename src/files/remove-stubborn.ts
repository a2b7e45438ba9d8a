/**
 * Deletes a folder that a program filled: paths too long, folders without permissions, names that
 * are not UTF-8.
 */

import { randomBytes } from 'node:crypto'
import { constants, type Dirent, existsSync } from 'node:fs'
import { chmod, type FileHandle, open, readdir, rename, rmdir, unlink } from 'node:fs/promises'
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
  let why: string | null = null
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    why = await removeOnce(Buffer.from(path))
    if (why === null) return null
  }
  return why
}

type Try = (removal: () => Promise<unknown>) => Promise<void>

async function removeOnce(place: Buffer): Promise<string | null> {
  let why: string | null = null
  const attempt: Try = async (removal) => {
    try {
      await removal()
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return
      if (codeOf(error) === '') throw error
      why ??= codeOf(error)
    }
  }
  await attempt(() => removeFolderAt(place, attempt, (top) => emptyTree(top, attempt)))
  return why
}

/** Moves all folders of the tree directly into its top folder, so that no path gets too long. */
async function emptyTree(top: OpenedFolder, attempt: Try): Promise<void> {
  const moveUp = moverTo(top)
  const waiting = await emptied(top, attempt, moveUp)
  const remove = (name: string) =>
    removeFolderAt(top.at(name), attempt, async (folder) => {
      // not spread, as there may be more names than a call accepts arguments
      for (const inner of await emptied(folder, attempt, moveUp)) waiting.push(inner)
    })
  while (waiting.length > 0) {
    const some = waiting.splice(-FOLDERS_AT_ONCE)
    await Promise.all(some.map((name) => attempt(() => remove(name))))
  }
}

/** Removes also what has replaced a folder. */
async function removeFolderAt(
  place: Buffer,
  attempt: Try,
  empty: (folder: OpenedFolder) => Promise<void>,
): Promise<void> {
  const folder = await openFolder(place)
  if (folder === null) return unlink(place)
  try {
    await empty(folder)
  } finally {
    await folder.close()
  }
  await attempt(() => rmdir(place))
}

type MoveUp = (from: Buffer) => Promise<string>

/** Moves folders to a new name in the top folder. */
function moverTo(top: OpenedFolder): MoveUp {
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
      await openUp(from)
      await rename(from, top.at(name))
    }
    return name
  }
}

/** Empties a folder: removes files and empty folders, moves other folders up, and returns their new names. */
async function emptied(folder: OpenedFolder, attempt: Try, moveUp: MoveUp): Promise<string[]> {
  const moved: string[] = []
  const entries = await folder.entries()
  for (let at = 0; at < entries.length; at += ENTRIES_AT_ONCE) {
    const some = entries.slice(at, at + ENTRIES_AT_ONCE).map((entry) => {
      const place = folder.at(entry.name)
      if (!entry.isDirectory()) return attempt(() => unlink(place))
      return attempt(async () => {
        if (!(await isRemovedEmpty(place))) moved.push(await moveUp(place))
      })
    })
    await Promise.all(some)
  }
  return moved
}

async function isRemovedEmpty(place: Buffer): Promise<boolean> {
  try {
    await rmdir(place)
    return true
  } catch (error) {
    if (hasCode(error, 'ENOTEMPTY', 'EEXIST', 'EACCES', 'EPERM', 'EBUSY')) return false
    throw error
  }
}

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants
const OPEN_FILES = '/proc/self/fd'
const HAS_OPEN_FILES = existsSync(OPEN_FILES)

/** Linux only, and not a constant of Node: opens files without read permission. */
const O_PATH = 0o10000000

/** A folder kept open while its contents are removed. Names are strings of bytes (latin1). */
interface OpenedFolder {
  entries(): Promise<Dirent[]>
  /** The path of a name in this folder, even if the folder's name is reused; without /proc its plain path. */
  at(name: string): Buffer
  close(): Promise<void>
}

/** Grants the owner all rights to a folder. Null if it is not a folder, or a link to one. */
async function openFolder(place: Buffer): Promise<OpenedFolder | null> {
  const handle = await opened(place)
  if (handle === null) return null
  const own = HAS_OPEN_FILES ? Buffer.from(`${OPEN_FILES}/${handle.fd}`) : place
  return {
    entries: () => readdir(own, { withFileTypes: true, encoding: 'latin1' }),
    at: (name) => Buffer.concat([own, Buffer.from(`/${name}`, 'latin1')]),
    close: () => handle.close(),
  }
}

async function opened(place: Buffer): Promise<FileHandle | null> {
  try {
    return await openWritable(place)
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR', 'ELOOP')) return null
    if (!hasCode(error, 'EACCES')) throw error
    await openUp(place)
    return openWritable(place)
  }
}

async function openWritable(place: Buffer): Promise<FileHandle> {
  const handle = await open(place, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
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
async function openUp(place: Buffer): Promise<void> {
  if (!HAS_OPEN_FILES) return chmod(place, 0o700)
  const handle = await open(place, O_PATH | O_DIRECTORY | O_NOFOLLOW)
  try {
    await chmod(`${OPEN_FILES}/${handle.fd}`, 0o700)
  } finally {
    await handle.close()
  }
}
