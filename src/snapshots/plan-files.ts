/** Reads listed files of a working folder, and copies them. */

import { createHash } from 'node:crypto'
import { constants, type Stats } from 'node:fs'
import { type FileHandle, lstat, mkdir, open, readlink, realpath, symlink } from 'node:fs/promises'
import { dirname } from 'node:path'
import { codeOf, hasCode, isBarred } from '../files/errno.ts'
import { idAt } from './plan-contents.ts'
import { placeOf, shownPath } from './plan-walk.ts'

/** Git's mode and object id by path, in the form of plan-walk.ts. */
export type Files = Map<string, string>

export interface ReadOptions {
  objectFormat: string
  /** A folder to copy the files to, with git's modes. */
  copyTo?: string
  signal?: AbortSignal
}

export interface ReadFiles {
  files: Files
  /** Files that cannot be read, and why. */
  warnings: string[]
}

const AT_ONCE = 16

/**
 * Reads files and links byte by byte. Leaves out what does not exist, is neither file nor link, cannot be read, or lies
 * behind a linked folder.
 */
export async function readFiles(
  top: string,
  paths: readonly string[],
  options: ReadOptions,
): Promise<ReadFiles> {
  const files: Files = new Map()
  const warnings: string[] = []
  const isReal = realFolders(top)
  const makeFolder = options.copyTo === undefined ? null : folderMaker(options.copyTo)
  const read = async (path: string) => {
    const folder = folderOf(path)
    if (!(await isReal(folder))) return
    await makeFolder?.(folder)
    const value = await valueAt(top, path, options)
    if (value !== null) files.set(path, value)
  }
  for (let at = 0; at < paths.length; at += AT_ONCE) {
    options.signal?.throwIfAborted()
    const some = paths.slice(at, at + AT_ONCE)
    await Promise.all(
      some.map((path) =>
        read(path).catch((error) => {
          if (!isBarred(error)) throw error
          warnings.push(`${shownPath(path)} cannot be read (${codeOf(error)})`)
        }),
      ),
    )
  }
  return { files, warnings }
}

/** Whether a folder below `top` is reached without links; asked once for each. */
function realFolders(top: string): (folder: string) => Promise<boolean> {
  const known = new Map<string, Promise<boolean>>()
  const look = async (folder: string) => {
    const place = placeOf(top, folder)
    try {
      return (await realpath(place, { encoding: 'buffer' })).equals(place)
    } catch (error) {
      if (hasCode(error, 'ENOENT', 'ENOTDIR') || isBarred(error)) return false
      throw error
    }
  }
  return (folder) => {
    const found = known.get(folder) ?? look(folder)
    known.set(folder, found)
    return found
  }
}

function folderMaker(copy: string): (folder: string) => Promise<unknown> {
  const made = new Map<string, Promise<unknown>>()
  return (folder) => {
    const making = made.get(folder) ?? mkdir(placeOf(copy, folder), { recursive: true })
    made.set(folder, making)
    return making
  }
}

async function valueAt(
  top: string,
  path: string,
  { objectFormat, copyTo, signal }: ReadOptions,
): Promise<string | null> {
  const place = placeOf(top, path)
  const target = copyTo === undefined ? null : placeOf(copyTo, path)
  try {
    const stats = await lstat(place)
    if (stats.isSymbolicLink()) {
      const link = await readlink(place, { encoding: 'buffer' })
      if (target) await symlink(link, target)
      return `120000 ${hashOf(link, objectFormat)}`
    }
    if (!stats.isFile()) return null
    return `${gitMode(stats)} ${await fileId(place, target, { objectFormat, signal })}`
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR', 'ENXIO')) return null
    throw error
  }
}

function folderOf(path: string): string {
  const folder = dirname(path)
  return folder === '.' ? '' : folder
}

function gitMode(stats: Stats): string {
  return stats.mode & 0o100 ? '100755' : '100644'
}

function hashOf(content: Buffer, objectFormat: string): string {
  return createHash(objectFormat).update(`blob ${content.length}\0`).update(content).digest('hex')
}

const CHUNK_BYTES = 1024 * 1024
const { O_RDONLY, O_NONBLOCK, O_NOFOLLOW } = constants

/** Returns the object id of a file, and copies it on the way if there is a target. */
async function fileId(
  place: Buffer,
  target: Buffer | null,
  { objectFormat, signal }: { objectFormat: string; signal: AbortSignal | undefined },
): Promise<string> {
  const handle = await open(place, O_RDONLY | O_NONBLOCK | O_NOFOLLOW)
  let copy: FileHandle | null = null
  try {
    const stats = await handle.stat()
    if (target) copy = await open(target, 'wx', stats.mode & 0o100 ? 0o777 : 0o666)
    const buffer = Buffer.allocUnsafe(Math.min(stats.size + 1, CHUNK_BYTES))
    const hash = createHash(objectFormat).update(`blob ${stats.size}\0`)
    let total = 0
    for (;;) {
      signal?.throwIfAborted()
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, null)
      if (bytesRead === 0) break
      total += bytesRead
      const bytes = buffer.subarray(0, bytesRead)
      hash.update(bytes)
      await copy?.writeFile(bytes)
    }
    // a program wrote to it meanwhile: the copy has what was read
    if (total !== stats.size && target) return idAt(target, objectFormat)
    return hash.digest('hex')
  } finally {
    await copy?.close()
    await handle.close()
  }
}
