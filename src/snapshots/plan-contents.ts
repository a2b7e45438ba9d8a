/** Reads everything below a folder byte by byte, to compare it after planning. */

import { createHash } from 'node:crypto'
import { constants, type Dirent, type Stats } from 'node:fs'
import { type FileHandle, lstat, open, readlink } from 'node:fs/promises'
import { codeOf, hasCode, isBarred } from '../files/errno.ts'
import { absolutePath, joinPath, walkFolders } from './plan-walk.ts'

export interface ContentsOptions {
  /** Paths to skip, in the form of plan-walk.ts. */
  skip?: ReadonlySet<string>
  /** Ids of files and links with known content, by path; these are not read. */
  ids?: ReadonlyMap<string, string>
  /** Object format of the ids; `sha1` if not given. */
  objectFormat?: string
  signal?: AbortSignal
}

const AT_ONCE_BYTES = 1024 * 1024

/** By path; folder paths end with a slash. Values differ if kind, mode or content differ. */
export type Contents = Map<string, string>

/** Suffix of the value of an empty file. */
export const EMPTY_BLOB = 'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391'

/** Suffix of the value of a folder that cannot be listed. */
export const UNREADABLE = 'unreadable'

/**
 * Reads everything below a folder byte by byte, including ignored files and empty folders; for a nested `.git` only
 * that it exists. Runs no program and follows no links. Files deleted during the read are left out.
 */
export async function contentsBelow(top: string, options: ContentsOptions = {}): Promise<Contents> {
  const contents: Contents = new Map()
  const look = async (folder: string, entries: Dirent[] | null) => {
    if (entries === null) {
      const key = `${folder || '.'}/`
      contents.set(key, `${contents.get(key) ?? ''} ${UNREADABLE}`)
      return []
    }
    const folders: string[] = []
    for (const entry of entries) {
      const path = joinPath(folder, entry.name)
      if (options.skip?.has(path)) continue
      options.signal?.throwIfAborted()
      const value = await contentAt(absolutePath(top, path), path, options)
      if (value !== null) contents.set(entry.isDirectory() ? `${path}/` : path, value)
      if (entry.isDirectory() && entry.name !== '.git') folders.push(path)
    }
    return folders
  }
  await walkFolders(top, look, options.signal)
  return contents
}

/** Returns kind, mode and content of a path, or why it is unreadable; null if it does not exist. */
export async function contentAt(
  place: Buffer | string,
  path: string,
  options: Pick<ContentsOptions, 'ids' | 'objectFormat' | 'signal'>,
): Promise<string | null> {
  try {
    const stats = await lstat(place)
    const mode = stats.mode.toString(8)
    if (!stats.isFile() && !stats.isSymbolicLink()) return mode
    return `${mode} ${options.ids?.get(path) ?? (await idOf(place, stats, options))}`
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return null
    if (isBarred(error)) return codeOf(error)
    throw error
  }
}

/** Returns the git object id of an existing file. */
export async function idAt(place: Buffer, objectFormat: string): Promise<string> {
  return idOf(place, await lstat(place), { objectFormat })
}

type HashOptions = Pick<ContentsOptions, 'objectFormat' | 'signal'>

/** Returns the git object id of this content. */
async function idOf(place: Buffer | string, stats: Stats, options: HashOptions): Promise<string> {
  const hash = createHash(options.objectFormat ?? 'sha1')
  if (stats.isSymbolicLink()) {
    const target = await readlink(place, { encoding: 'buffer' })
    return hash.update(`blob ${target.length}\0`).update(target).digest('hex')
  }
  const { O_RDONLY, O_NONBLOCK, O_NOFOLLOW } = constants
  let handle: FileHandle
  try {
    handle = await open(place, O_RDONLY | O_NONBLOCK | O_NOFOLLOW)
  } catch (error) {
    if (isBarred(error) || hasCode(error, 'ENXIO')) return codeOf(error)
    throw error
  }
  try {
    const { size } = await handle.stat()
    const buffer = Buffer.allocUnsafe(Math.min(size + 1, AT_ONCE_BYTES))
    hash.update(`blob ${size}\0`)
    for (;;) {
      options.signal?.throwIfAborted()
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, null)
      if (bytesRead === 0) return hash.digest('hex')
      hash.update(buffer.subarray(0, bytesRead))
    }
  } finally {
    await handle.close()
  }
}
