import { constants, type Dirent, existsSync } from 'node:fs'
import { chmod, type FileHandle, open, readdir } from 'node:fs/promises'
import { hasCode } from './errno.ts'

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants
const OPEN_FILES = '/proc/self/fd'
const HAS_OPEN_FILES = existsSync(OPEN_FILES)

/** Linux only, and not among the constants of Node: opens also what may not be read. */
const O_PATH = 0o10000000

/** A folder kept open while what is in it is dealt with. Names are strings of bytes (latin1). */
export interface OpenedFolder {
  entries(): Promise<Dirent[]>
  /** The place of a name in this very folder, whatever has taken its own; without /proc its plain path. */
  at(name: string): Buffer
  close(): Promise<void>
}

/** Gives its owner all rights to it. Null where no folder is; a link to one is none. */
export async function openFolder(place: Buffer): Promise<OpenedFolder | null> {
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
    // another user's: whether we may do something in it shows when we do
    if (hasCode(error, 'EPERM', 'EROFS')) return handle
    await handle.close()
    throw error
  }
  return handle
}

/** Gives a folder's owner all rights to it, also where nobody may look into it. */
export async function openUp(place: Buffer): Promise<void> {
  if (!HAS_OPEN_FILES) return chmod(place, 0o700)
  const handle = await open(place, O_PATH | O_DIRECTORY | O_NOFOLLOW)
  try {
    await chmod(`${OPEN_FILES}/${handle.fd}`, 0o700)
  } finally {
    await handle.close()
  }
}
