import { randomBytes } from 'node:crypto'
import { rename, rmdir, unlink } from 'node:fs/promises'
import { codeOf, hasCode } from './errno.ts'
import { type OpenedFolder, openFolder, openUp } from './opened-folder.ts'

const FOLDERS_AT_ONCE = 16
const ENTRIES_AT_ONCE = 64
/** A program that is on its way out may still add a file. */
const ATTEMPTS = 3

/**
 * Removes all that stands at a path, whatever a program has made of it: folders deeper than any path
 * may be long, or that nobody may look into. Follows no links and crosses no mounts. Gives null once
 * it is gone, else the code of the error that kept a part of it (an immutable file: EPERM), with
 * everything else removed.
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

/** All folders of the tree are dealt with directly in its top folder, so no path gets longer. */
async function emptyTree(top: OpenedFolder, attempt: Try): Promise<void> {
  const moveUp = moverTo(top)
  const waiting = await emptied(top, attempt, moveUp)
  const remove = (name: string) =>
    removeFolderAt(top.at(name), attempt, async (folder) => {
      // not spread: there may be more names than a call takes arguments
      for (const inner of await emptied(folder, attempt, moveUp)) waiting.push(inner)
    })
  while (waiting.length > 0) {
    const some = waiting.splice(-FOLDERS_AT_ONCE)
    await Promise.all(some.map((name) => attempt(() => remove(name))))
  }
}

/** What has taken a folder's place is removed as well. */
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

/** A way to move folders to a new name in the top folder. */
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
      // what is moved must be writable too: its `..` changes
      await openUp(from)
      await rename(from, top.at(name))
    }
    return name
  }
}

/** Removes what is in a folder but for the folders with something in them, which are moved up; gives their new names. */
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
