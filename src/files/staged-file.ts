import { closeSync, linkSync, lstatSync, type Stats } from 'node:fs'
import { rename } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { AppError } from '../model/app-error.ts'
import { openRegular, readDescriptor } from './descriptors.ts'
import { hasCode } from './errno.ts'
import { discard, discardNow, openNewFile, writeNewFile } from './new-file.ts'
import { type PinnedFolder, pinFolder } from './pinned-folder.ts'
import { type ReplacedFileTracker, replaceSeen } from './replace-seen.ts'
import { storageError } from './storage-error.ts'
import { tempName } from './temp-files.ts'

/**
 * A file with its new content on the disk, under a hidden name next to its target. So two files of
 * a folder can be written in parallel, renamed one after the other, and share the sync of the
 * folder.
 */
export interface StagedFile {
  /** Renames the file to its target, so that readers see it. Closes the file on failure. */
  place(): Promise<void>
  /** Resolves once all files placed in its folder so far survive a crash. */
  sync(): Promise<void>
  /** Always call this at the end. Removes a file that was not placed. */
  close(): Promise<void>
}

export interface StageOptions {
  /** Overrides the mode of the replaced file; without both, 0666 less the umask. */
  mode?: number
  /** A real path that the file must stay in, even if its folder is swapped for a link meanwhile. */
  within?: string
}

export interface ReplaceOptions extends StageOptions {
  /** The content just before the replacement: these bytes, or with null no file. */
  expect?: Uint8Array | null
  /** With `expect` bytes: gets the replaced file, for a save that came too late to be seen. */
  tracker?: ReplacedFileTracker
}

export interface ChangeOptions {
  /** A larger file fails with `changed_meanwhile`. */
  maxBytes: number
  within: string
  /** Gets the replaced file, for a save that came too late to be seen. */
  trackerFor(present: Buffer): ReplacedFileTracker
}

/**
 * Fails with `unreadable_file` if the path is not a regular file, and with `changed_meanwhile` if
 * it does not match `expect`.
 */
export function stageReplacement(
  path: string,
  bytes: Uint8Array,
  { mode, expect, tracker, within }: ReplaceOptions,
): Promise<StagedFile> {
  return staged(path, within, async (pinned, temp, open) => {
    const like = regularOrNothing(pinned)
    if (!expect) {
      await writeNewFile(temp, bytes, { mode, like })
      if (expect === null) return () => placeNew(temp, pinned, bytes, mode, changedMeanwhile)
      return async () => {
        regularOrNothing(pinned)
        // in the thread pool, because deleting the old file takes a while
        await rename(temp, pinned)
      }
    }
    const ours = await openNewFile(temp, bytes, { mode, like })
    open.add(ours.fd)
    return async () => {
      open.clear() // `replaceSeen` closes them
      if (replaceSeen(ours, pinned, expect, tracker)) return
      regularOrNothing(pinned)
      throw changedMeanwhile(path)
    }
  })
}

/** Makes a new file, whole or not at all; fails with `already_exists`. */
export function stageNew(
  path: string,
  bytes: Uint8Array,
  { mode, within }: StageOptions,
): Promise<StagedFile> {
  return staged(path, within, async (pinned, temp) => {
    await writeNewFile(temp, bytes, { mode })
    return () => placeNew(temp, pinned, bytes, mode, alreadyThere)
  })
}

/**
 * Replaces the content of a file with the result of `change`, through the same open folder and
 * file. Fails with `changed_meanwhile` if the path is not a regular file or changed after `change`
 * got its content. Rejects if `change` rejects.
 */
export function stageChange(
  path: string,
  { maxBytes, within, trackerFor }: ChangeOptions,
  change: (present: Buffer) => Promise<Uint8Array>,
): Promise<StagedFile> {
  return staged(path, within, async (pinned, temp, open) => {
    const seen = openRegular(pinned, open)
    const present = seen && readDescriptor(seen, maxBytes)
    if (!seen || !present) throw changedMeanwhile(path)
    const bytes = await change(present)
    if (present.equals(bytes)) return async () => {}
    const ours = await openNewFile(temp, bytes, { like: seen.stats })
    open.add(ours.fd)
    return async () => {
      open.clear() // `replaceSeen` closes them
      const isDone = replaceSeen(ours, pinned, present, trackerFor(present), { seen })
      if (!isDone) throw changedMeanwhile(path)
    }
  })
}

type Place = () => Promise<void>

/**
 * `write` makes the temporary file and returns the function that places it. It adds descriptors to
 * close to `open`. Both paths lead through the open folder.
 */
async function staged(
  path: string,
  within: string | undefined,
  write: (pinned: string, temp: string, open: Set<number>) => Promise<Place>,
): Promise<StagedFile> {
  const open = new Set<number>()
  let folder: PinnedFolder | null = null
  let temp: string | null = null

  async function close(): Promise<void> {
    for (const fd of open) closeSync(fd)
    open.clear()
    try {
      if (temp !== null) await discard(temp)
    } finally {
      temp = null
      folder?.close()
      folder = null
    }
  }

  async function closed(error: unknown): Promise<unknown> {
    await close()
    return storageError(error, path)
  }

  try {
    const pinned = pinFolder(dirname(path), within)
    folder = pinned
    const place = `${pinned.path}/${basename(path)}`
    temp = tempName(place)
    const give = await write(place, temp, open)
    return {
      async place() {
        try {
          await give()
          temp = null
        } catch (error) {
          throw await closed(error)
        }
      },
      async sync() {
        try {
          await pinned.sync()
        } catch (error) {
          throw storageError(error, path)
        }
      },
      close,
    }
  } catch (error) {
    throw await closed(error)
  }
}

function regularOrNothing(path: string): Stats | null {
  try {
    const stats = lstatSync(path, { throwIfNoEntry: false })
    if (!stats) return null
    if (stats.isFile()) return stats
    const kind = stats.isSymbolicLink() ? 'a symbolic link' : 'not a regular file'
    throw new AppError(
      'unreadable_file',
      `${basename(path)} is ${kind}, so it is not written. Put a regular file in its place.`,
    )
  } catch (error) {
    throw storageError(error, path)
  }
}

/** Renames the temporary file only if the target name is free. */
async function placeNew(
  temp: string,
  path: string,
  bytes: Uint8Array,
  mode: number | undefined,
  createError: (path: string) => AppError,
): Promise<void> {
  try {
    linkSync(temp, path)
  } catch (error) {
    if (hasCode(error, 'EEXIST')) throw createError(path)
    if (!hasCode(error, 'EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK')) throw error
    // Also exclusive, but a power cut can leave a partial file.
    await writeNewFile(path, bytes, { mode }).catch((failure: unknown) => {
      throw hasCode(failure, 'EEXIST') ? createError(path) : failure
    })
  }
  discardNow(temp) // the file has its name, even if the temporary name stays
}

function alreadyThere(path: string): AppError {
  return new AppError('already_exists', `${basename(path)} already exists. Choose another name.`)
}

export function changedMeanwhile(path: string): AppError {
  const message = `${basename(path)} was changed by somebody else meanwhile, so it was not overwritten. Read it again, then repeat the change.`
  return new AppError('changed_meanwhile', message)
}
