import { closeSync, linkSync, lstatSync, type Stats } from 'node:fs'
import { rename } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { AppError } from '../model/app-error.ts'
import { openRegular, readDescriptor } from './descriptors.ts'
import { hasCode } from './errno.ts'
import { confirmChange } from './failing-folders.ts'
import { discard, discardNow, writeNewFile } from './new-file.ts'
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
  /** Renames it to its final name. If that fails, the file is closed. */
  place(): Promise<void>
  /** Syncs the folder, so that everything placed in it so far is durable (see `confirmChange`). */
  sync(): Promise<void>
  /** Call at the end. Removes the file if it was not placed. */
  close(): Promise<void>
}

export interface StageOptions {
  /** Overrides the mode of the replaced file; without both, 0666 minus the umask. */
  mode?: number
  /** A real path that must contain the file, even if its folder is replaced by a link meanwhile. */
  within?: string
}

export interface ReplaceOptions extends StageOptions {
  /** The expected content just before the replacement; null means no file. */
  expect?: Uint8Array | null
  /** Gets the replaced file, for late saves. Only with expected bytes. */
  tracker?: ReplacedFileTracker
}

export interface ChangeOptions {
  /** A larger file counts as changed. */
  maxBytes: number
  within: string
  /** Gets the replaced file, for late saves. */
  trackerFor(present: Buffer): ReplacedFileTracker
}

/**
 * Stages a replacement. Throws `unreadable_file` for anything but a regular file, and `changed_meanwhile` if the file
 * is not `expect`.
 */
export function stageReplacement(
  path: string,
  bytes: Uint8Array,
  { mode, expect, tracker, within }: ReplaceOptions,
): Promise<StagedFile> {
  return staged(path, within, async (pinned, temp) => {
    const like = regularOrNothing(pinned)
    await writeNewFile(temp, bytes, { mode, like })
    if (expect === null) return () => placeNew(temp, pinned, bytes, mode, changedMeanwhile)
    return async () => {
      if (expect && replaceSeen(temp, pinned, expect, tracker)) return
      regularOrNothing(pinned)
      if (expect) throw changedMeanwhile(path)
      // in the thread pool, as freeing the old file takes a while
      await rename(temp, pinned)
    }
  })
}

/** Stages a new file; placing it throws `already_exists` if the name is taken. */
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
 * Stages the result of `change` on a file's content, using the same open folder and file. Throws `changed_meanwhile`
 * if it is not a regular file, or not the one that `change` got, and whatever `change` throws.
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
    await writeNewFile(temp, bytes, { like: seen.stats })
    return async () => {
      open.clear() // `replaceSeen` closes it
      const isDone = replaceSeen(temp, pinned, present, trackerFor(present), { seen })
      if (!isDone) throw changedMeanwhile(path)
    }
  })
}

type MoveIntoPlace = () => Promise<void>

/**
 * `write` creates the temporary file and returns the function that places it. It adds descriptors to close to `open`.
 * Both paths lead through the open folder.
 */
async function staged(
  path: string,
  within: string | undefined,
  write: (pinned: string, temp: string, open: Set<number>) => Promise<MoveIntoPlace>,
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
      sync: () => confirmChange(dirname(path), pinned.sync),
      close,
    }
  } catch (error) {
    throw await closed(error)
  }
}

function regularOrNothing(path: string): Stats | null {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  if (!stats) return null
  if (stats.isFile()) return stats
  const kind = stats.isSymbolicLink() ? 'a symbolic link' : 'not a regular file'
  throw new AppError(
    'unreadable_file',
    `${basename(path)} is ${kind}, so it is not written. Put a regular file in its place.`,
  )
}

/** The file system has no hard links, or none there. */
const NO_LINKS = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EXDEV', 'EINVAL']

/** Renames the temporary file only if the name is free. */
async function placeNew(
  temp: string,
  path: string,
  bytes: Uint8Array,
  mode: number | undefined,
  nameTaken: (path: string) => AppError,
): Promise<void> {
  try {
    linkSync(temp, path)
  } catch (error) {
    if (hasCode(error, 'EEXIST')) throw nameTaken(path)
    if (!hasCode(error, ...NO_LINKS)) throw error
    // exclusive too, but a power cut can leave a partial file
    await writeNewFile(path, bytes, { mode }).catch((failure: unknown) => {
      throw hasCode(failure, 'EEXIST') ? nameTaken(path) : failure
    })
  }
  discardNow(temp)
}

function alreadyThere(path: string): AppError {
  return new AppError('already_exists', `${basename(path)} already exists. Choose another name.`)
}

export function changedMeanwhile(path: string): AppError {
  const message = `${basename(path)} was changed by someone else at the same time, so it was not overwritten. Read it again, then repeat the change.`
  return new AppError('changed_meanwhile', message)
}
