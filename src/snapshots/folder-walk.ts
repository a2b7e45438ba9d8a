/** Folders whose names need not be UTF-8. */

import type { Dirent } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { hasCode, isBarred } from '../files/errno.ts'

const AT_ONCE = 16

/**
 * Walks the folders below `top`, breadth first. `look` gets the path of each folder from the top (empty for the top
 * itself) with its entries, or null if it is unreadable, and returns the paths of folders to enter. Links are not
 * followed.
 *
 * Paths are strings of bytes (latin1), as names need not be UTF-8: see `absolutePath` and `shownPath`.
 */
export async function walkFolders(
  top: string,
  look: (folder: string, entries: Dirent[] | null) => Promise<string[]>,
  signal?: AbortSignal,
): Promise<void> {
  for (let level = ['']; level.length > 0; ) {
    const below: string[][] = []
    for (let at = 0; at < level.length; at += AT_ONCE) {
      signal?.throwIfAborted()
      const some = level.slice(at, at + AT_ONCE)
      below.push(
        ...(await Promise.all(some.map(async (path) => look(path, await entriesAt(top, path))))),
      )
    }
    level = below.flat()
  }
}

/** Returns the path on disk of an entry below `top`. */
export function absolutePath(top: string, path: string): Buffer {
  const folder = Buffer.from(path === '' ? top : `${top}/`)
  return Buffer.concat([folder, Buffer.from(path, 'latin1')])
}

/** Returns a path for people to read. */
export function shownPath(path: string): string {
  return Buffer.from(path, 'latin1').toString()
}

/** Converts a path from git or a person to the form of the walk. */
export function walkedPath(path: string): string {
  return Buffer.from(path).toString('latin1')
}

export function joinPath(folder: string, name: string): string {
  return folder === '' ? name : `${folder}/${name}`
}

async function entriesAt(top: string, path: string): Promise<Dirent[] | null> {
  try {
    return await readdir(absolutePath(top, path), { withFileTypes: true, encoding: 'latin1' })
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return []
    if (isBarred(error)) return null
    throw error
  }
}
