/** Finds the repository of a folder without running git. */

import { realpath } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { hasCode } from '../files/errno.ts'
import { isFolder } from '../files/folder-names.ts'
import { readRegular } from '../files/safe-read.ts'

export interface DotGit {
  /** The folder that contains `.git`. */
  top: string
  /** The repository's git folder: a real path, or the path in a `.git` file of a worktree or submodule. */
  gitDir: string
}

/**
 * Returns the nearest repository of a folder, as git finds it. `.git` may be a folder, a symbolic link to one, or a
 * file that names one. `onError` gets the error if a `.git` cannot be read. If it does not throw, that `.git` is
 * ignored.
 */
export async function findDotGit(
  folder: string,
  onError: (error: unknown) => null,
): Promise<DotGit | null> {
  for (let top = folder; ; top = dirname(top)) {
    const gitDir = await gitDirIn(top).catch(ifMissing).catch(onError)
    if (gitDir) return { top, gitDir }
    if (top === dirname(top)) return null
  }
}

async function gitDirIn(top: string): Promise<string | null> {
  const place = await realpath(join(top, '.git'))
  if (await isFolder(place)) return place
  const read = await readRegular(place, { maxBytes: 4096 })
  const named = read.ok ? asPath(/^gitdir: (.+)/.exec(read.bytes.toString())?.[1]) : undefined
  return named ? resolve(top, named) : null
}

function ifMissing(error: unknown): null {
  if (hasCode(error, 'ENOENT', 'ENOTDIR')) return null
  throw error
}

/** The path in a `.git` file, which may be invalid. */
export function asPath(text: string | null | undefined): string | undefined {
  return text?.replaceAll('\0', '').trim()
}
