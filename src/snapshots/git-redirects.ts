/**
 * A `commondir` in a git folder makes git read configuration and hooks from another folder. A run that cannot write the
 * configuration must not write that either. Nothing can stand in its place before (an empty one is an error to git), so a
 * new one is moved away.
 */

import { lstat, readlink, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { hasCode } from '../files/errno.ts'
import { kindsNow } from '../files/folder-names.ts'
import { existingPaths } from '../files/real-path.ts'
import { decodeUtf8, readRegular } from '../files/safe-read.ts'
import { type GitFolder, gitFolders } from './git-folders.ts'

const NAME = 'commondir'
const MAX_BYTES = 64 * 1024

export type UnlinkedFolder = Pick<GitFolder, 'path' | 'name'>

/** The git folders that have none: all but those of linked worktrees. */
export async function foldersWithoutRedirect(workdir: string): Promise<UnlinkedFolder[]> {
  const folders = await gitFolders(workdir)
  const found: UnlinkedFolder[] = []
  for (const { path, name } of folders)
    if ((await existingPaths([path])).length > 0 && (await kindOf(join(path, NAME))) === null)
      found.push({ path, name })
  return found
}

/** Moves the redirect of a folder away, within the folder; false if there is none. */
export async function setAside({ path }: UnlinkedFolder, mark: string): Promise<boolean> {
  let count = 1
  const place = () => join(path, `${asideOf(mark)}${count}`)
  while ((await kindOf(place())) !== null) count++
  try {
    await rename(join(path, NAME), place())
    return true
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return false
    throw error
  }
}

export interface TakenRedirect {
  /** For people, such as `.git/commondir`. */
  file: string
  /** What it says. */
  content: string
  /** Where it is now; null if `content` is all of it. */
  kept: string | null
  /** Removes it, once `content` is kept elsewhere. */
  drop(): Promise<void>
}

/** What was set aside. Call this when the programs that may write it have ended. */
export async function redirectsAside(
  { path, name }: UnlinkedFolder,
  mark: string,
): Promise<TakenRedirect[]> {
  const kinds = kindsNow(path)
  const names = kinds === null || kinds === 'hidden' ? [] : [...kinds.keys()]
  const found = names.filter((each) => each.startsWith(asideOf(mark)))
  return Promise.all(
    found.map(async (aside) => {
      const at = join(path, aside)
      const read = await readRegular(at, { maxBytes: MAX_BYTES })
      const text = read.ok ? decodeUtf8(read.bytes) : null
      return {
        file: `${name}/${NAME}`,
        content: text?.ok ? text.text : ((await kindOf(at)) ?? ''),
        kept: text?.ok ? null : `${name}/${aside}`,
        drop: async () => (text?.ok ? rm(at, { force: true }) : undefined),
      }
    }),
  )
}

function asideOf(mark: string): string {
  return `${NAME}.${mark}.`
}

/** What is at a path, for people; null if nothing is. */
async function kindOf(path: string): Promise<string | null> {
  try {
    const stats = await lstat(path)
    if (stats.isSymbolicLink()) return `a link to ${await readlink(path)}`
    return stats.isDirectory() ? 'a folder' : 'a file'
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return null
    throw error
  }
}
