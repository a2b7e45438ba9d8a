/**
 * Durable writes: temporary file, fsync, rename, fsync of the folder. After a crash or on a full disk a file has its
 * old bytes or its new ones. What an error of the disk means for the caller is in `storage-refusal.ts`.
 */

import { linkSync, lstatSync, mkdirSync, type Stats, statSync } from 'node:fs'
import { rename } from 'node:fs/promises'
import { basename, dirname, resolve } from 'node:path'
import { Refusal } from '../model/refusal.ts'
import { hasCode } from './errno.ts'
import { discard, discardNow, openNewFile, writeNewFile } from './new-file.ts'
import { type PinnedFolder, pinFolder } from './pinned-folder.ts'
import { type Keeper, replaceSeen } from './replace-seen.ts'
import { storageRefusal } from './storage-refusal.ts'
import { tempName } from './temp-files.ts'

export interface WriteOptions {
  /** Overrides the mode of the file that is replaced; without both, 0666 less the umask. */
  mode?: number
  /** What must stand there just before the replacement: these bytes, or with null nothing. */
  expect?: Uint8Array | null
  /** With bytes expected: gets what the new file displaced, for a save that came too late to be seen. */
  keeper?: Keeper
  /** A real path that the file must not leave, not even where its folder is swapped for a link meanwhile. */
  within?: string
}

/** A file that has its name, for every reader to see. */
export interface Placed {
  /** Resolves once no crash takes that away again, else rejects as the write itself would. To be awaited. */
  synced: Promise<void>
}

/**
 * Replaces a file so that after any crash it is wholly the old or wholly the new one, and so that
 * once this resolves it is the new one. The new file is another inode: hard links, ACLs and extended
 * attributes are lost; mode stays, and so does the owner where we may set it. Should the last step,
 * the sync of the folder, fail, this rejects although readers already see the new file.
 * Refuses with `unreadable_file` what is no regular file, `changed_meanwhile` against `expect`,
 * `storage_full` and `storage_failed`.
 */
export async function writeDurable(
  path: string,
  bytes: Uint8Array,
  options: WriteOptions = {},
): Promise<void> {
  const { mode, expect, keeper } = options
  try {
    const { synced } = await inPinnedFolder(path, options, async (pinned, temp) => {
      const like = regularOrNothing(pinned)
      if (expect) {
        const ours = await openNewFile(temp, bytes, { mode, like })
        if (replaceSeen(ours, pinned, expect, keeper)) return
        regularOrNothing(pinned)
        throw changedMeanwhile(path)
      }
      await writeNewFile(temp, bytes, { mode, like })
      if (expect === null) return placeNew(temp, pinned, bytes, mode)
      regularOrNothing(pinned)
      // in the thread pool, since the old file goes with its last name, which takes a while
      await rename(temp, pinned)
    })
    await synced
  } catch (error) {
    if (options.expect === null && hasCode(error, 'EEXIST')) throw changedMeanwhile(path)
    throw storageRefusal(error, path)
  }
}

/** Makes a file that must not be there yet, whole or not at all; refuses with `already_exists`. */
export async function createDurable(
  path: string,
  bytes: Uint8Array,
  options: Pick<WriteOptions, 'mode' | 'within'> = {},
): Promise<void> {
  await (await placeNewDurable(path, bytes, options)).synced
}

/** The same, but resolves before the sync of the folder. */
export async function placeNewDurable(
  path: string,
  bytes: Uint8Array,
  options: Pick<WriteOptions, 'mode' | 'within'> = {},
): Promise<Placed> {
  try {
    return await inPinnedFolder(path, options, async (pinned, temp) => {
      await writeNewFile(temp, bytes, { mode: options.mode })
      await placeNew(temp, pinned, bytes, options.mode)
    })
  } catch (error) {
    if (hasCode(error, 'EEXIST')) {
      throw new Refusal(
        'already_exists',
        `${basename(path)} is there already. Choose another name.`,
      )
    }
    throw storageRefusal(error, path)
  }
}

/** Runs `write` with the file's path in its pinned folder and that of a temporary file beside it. */
export async function inPinnedFolder(
  path: string,
  { within }: Pick<WriteOptions, 'within'>,
  write: (pinned: string, temp: string) => Promise<void>,
): Promise<Placed> {
  const folder = pinFolder(dirname(path), within)
  const pinned = `${folder.path}/${basename(path)}`
  const temp = tempName(pinned)
  try {
    await write(pinned, temp)
  } catch (error) {
    try {
      await discard(temp)
    } finally {
      folder.close()
    }
    throw error
  }
  return { synced: syncedAndClosed(folder, path) }
}

async function syncedAndClosed(folder: PinnedFolder, path: string): Promise<void> {
  try {
    await folder.sync()
  } catch (error) {
    throw storageRefusal(error, path)
  } finally {
    folder.close()
  }
}

/**
 * `mkdir -p` that survives a power cut: the parent of each folder that was made is synced. Not the
 * `recursive` of Node, which reports a read-only file system as ENOENT.
 */
export async function makeFolder(path: string, mode = 0o777): Promise<void> {
  const folder = resolve(path)
  try {
    await mkdirBelow(folder, mode)
    await syncFolder(dirname(folder))
  } catch (error) {
    if (!hasCode(error, 'EEXIST', 'EISDIR', 'ENOTDIR')) throw storageRefusal(error, path)
    if (isFolder(folder)) return
    throw new Refusal(
      'unreadable_file',
      `The folder ${basename(path)} cannot be made: a file is in its place. Move that file away.`,
      { cause: error },
    )
  }
}

/** Makes renames, new names and removals directly in a folder durable. */
export async function syncFolder(path: string): Promise<void> {
  const folder = pinFolder(path)
  try {
    await folder.sync()
  } finally {
    folder.close()
  }
}

async function mkdirBelow(folder: string, mode: number): Promise<void> {
  try {
    mkdirSync(folder, { mode })
  } catch (error) {
    if (!hasCode(error, 'ENOENT') || folder === dirname(folder)) throw error
    await makeFolder(dirname(folder), mode)
    mkdirSync(folder, { mode })
  }
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR', 'ELOOP')) return false
    throw error
  }
}

function regularOrNothing(path: string): Stats | null {
  try {
    const stats = lstatSync(path, { throwIfNoEntry: false })
    if (!stats) return null
    if (stats.isFile()) return stats
    const kind = stats.isSymbolicLink() ? 'a symbolic link' : 'not a regular file'
    throw new Refusal(
      'unreadable_file',
      `${basename(path)} is ${kind}, so it is not written. Put a regular file in its place.`,
    )
  } catch (error) {
    throw storageRefusal(error, path)
  }
}

/** Gives the temporary file its name only if that is free (EEXIST), and removes the old name. */
async function placeNew(
  temp: string,
  path: string,
  bytes: Uint8Array,
  mode: number | undefined,
): Promise<void> {
  try {
    linkSync(temp, path)
  } catch (error) {
    if (!hasCode(error, 'EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK')) throw error
    // Exclusive too, but a power cut can leave a part of it.
    await writeNewFile(path, bytes, { mode })
  }
  discardNow(temp) // the file has its name by now, whether the other goes or not
}

export function changedMeanwhile(path: string): Refusal {
  const message = `${basename(path)} was changed by somebody else meanwhile, so it was not overwritten. Read it again, then repeat the change.`
  return new Refusal('changed_meanwhile', message)
}
