/** What a program changed in an overlay: its upper folder has all that was written, and nothing else. */

import type { BigIntStats, Dirent } from 'node:fs'
import { lstat, opendir, readdir, readlink } from 'node:fs/promises'
import { dirname } from 'node:path'
import { hasCode, isBarred } from '../files/errno.ts'
import { hasSameContent } from '../files/same-content.ts'
import { runGit } from '../git/run-git.ts'
import { isolatedGit } from '../git/scratch.ts'
import { absolutePath, joinPath, shownPath } from './folder-walk.ts'

export interface ChangedOverlay {
  /** The folder as it is without the changes. */
  lower: string
  upper: string
  /** The folder as the program saw it, by another path. */
  view: string
  signal: AbortSignal
}

/**
 * Returns the changed paths, sorted; `x/` for a folder that is gone, new and empty, or has other permissions. A path
 * counts if its kind, permissions or content differ, so a file that was written back does not, whatever its times and
 * owner are. Of git's own files, a refreshed index does not count, nor do new objects: a ref to them does.
 *
 * Call it when the programs have ended. The work depends on what they wrote, not on the size of the folder.
 */
export async function overlayChanges(overlay: ChangedOverlay): Promise<string[]> {
  const { lower, upper, view, signal } = overlay
  const found: string[] = []

  async function lookInto(folder: string, isNew: boolean): Promise<void> {
    const entries = await entriesOf(absolutePath(upper, folder))
    for (const { name } of entries ?? []) {
      signal.throwIfAborted()
      await lookAt(joinPath(folder, name), isNew)
    }
    if (entries === null || (isNew && entries.length === 0)) found.push(`${folder}/`)
    else if (!isNew && folder !== '') await findDropped(folder, entries)
  }

  async function lookAt(path: string, isInNew: boolean): Promise<void> {
    const now = await statsAt(upper, path)
    const before = isInNew ? null : await statsAt(lower, path)
    if (now === 'barred' || before === 'barred') found.push(path)
    else if (now === null || (before === null && NEW_OBJECT.test(path))) return
    else if (isWhiteout(now)) {
      if (before !== null) found.push(before.isDirectory() ? `${path}/` : path)
    } else if (now.isDirectory()) {
      const old = before?.isDirectory() ? before : null
      if (old !== null && now.mode !== old.mode) found.push(`${path}/`)
      await lookInto(path, old === null)
    } else if (before === null || !(await isSame(path, now, before))) found.push(path)
  }

  /**
   * A folder that was removed and made again hides what was in it, and its upper folder does not say so in a way that
   * can be read here. Then the view has nothing that is only in the folder below.
   */
  async function findDropped(folder: string, entries: readonly Dirent[]): Promise<void> {
    const inUpper = new Set(entries.map(({ name }) => name))
    const dropped: string[] = []
    for await (const name of namesOf(absolutePath(lower, folder))) {
      if (inUpper.has(name)) continue
      const path = joinPath(folder, name)
      if ((await statsAt(view, path)) !== null) return
      dropped.push(path)
    }
    found.push(...dropped)
  }

  async function isSame(path: string, now: BigIntStats, before: BigIntStats): Promise<boolean> {
    if (now.mode !== before.mode) return false
    const [a, b] = [absolutePath(lower, path), absolutePath(upper, path)]
    if (now.isSymbolicLink()) return (await linkAt(a)).equals(await linkAt(b))
    if (!now.isFile()) return now.rdev === before.rdev
    return (await hasSameContent(a, b, signal)) || (INDEX.test(path) && isSameIndex(a, b, signal))
  }

  await lookInto('', false)
  return [...new Set(found)].sort().map(shownPath)
}

/** Whether the same is staged, with the same flags: `git status` writes new times into an index. */
async function isSameIndex(before: Buffer, now: Buffer, signal: AbortSignal): Promise<boolean> {
  const gitDir = dirname(before.toString())
  const git = isolatedGit(gitDir, dirname(gitDir), { signal }, {})
  const listed = [before, now].map(async (index) => {
    const env = { ...git.env, GIT_INDEX_FILE: index.toString() }
    const { exit, stdout } = await runGit(['ls-files', '--stage', '-v', '-z'], { ...git, env })
    return exit === 0 ? stdout : null
  })
  const [a, b] = await Promise.all(listed)
  return !!a && !!b && a.equals(b)
}

/** In the git folder of a repository, or of a submodule. */
const NEW_OBJECT = /(?:^|\/)\.git\/(?:modules\/.+\/)?objects\/(?:[0-9a-f]{2}|pack)(?:\/|$)/
const INDEX = /(?:^|\/)\.git\/(?:modules\/.+\/)?index$/

/** By it an overlay remembers that something is gone. */
function isWhiteout(stats: BigIntStats): boolean {
  return stats.isCharacterDevice() && stats.rdev === 0n
}

/** Null if nothing is there. */
async function statsAt(top: string, path: string): Promise<BigIntStats | 'barred' | null> {
  try {
    return await lstat(absolutePath(top, path), { bigint: true })
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return null
    if (isBarred(error)) return 'barred'
    throw error
  }
}

/** Null if it cannot be read. */
async function entriesOf(folder: Buffer): Promise<Dirent[] | null> {
  try {
    return await readdir(folder, { withFileTypes: true, encoding: 'latin1' })
  } catch (error) {
    if (isBarred(error)) return null
    throw error
  }
}

/** One after the other, because the first one often suffices. None if the folder cannot be read. */
async function* namesOf(folder: Buffer): AsyncGenerator<string, void> {
  try {
    // the types lack a path of bytes, and this encoding
    const options = { encoding: 'latin1' as BufferEncoding }
    for await (const { name } of await opendir(folder as unknown as string, options)) yield name
  } catch (error) {
    if (!isBarred(error)) throw error
  }
}

function linkAt(path: Buffer): Promise<Buffer> {
  return readlink(path, { encoding: 'buffer' })
}
