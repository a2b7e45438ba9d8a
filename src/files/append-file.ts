/** Appends to a file that a person may be editing, without replacing it: an editor that has it open keeps its file. */

import { closeSync, constants, fstatSync, ftruncateSync, openSync, writeSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { AppError } from '../model/app-error.ts'
import { readDescriptor, syncData } from './descriptors.ts'
import { syncFolder } from './durable-write.ts'
import { hasCode } from './errno.ts'
import { movedMeanwhile, pinFolder } from './pinned-folder.ts'
import { isOpenWithin } from './safe-read.ts'
import { storageError } from './storage-error.ts'

export interface AppendOptions {
  /** A larger file is not appended to. */
  maxBytes: number
  /** A real path that must contain the file. */
  within: string
}

/** What a file is to have behind its first `keep` bytes, which are all of it but for what a power cut left. */
export interface Appendix {
  keep: number
  bytes: Uint8Array
}

/** A file, if it exists, that is open until the bytes for its end are written. */
export interface OpenAppendix {
  /** What the file has now; null if there is none. */
  present: Buffer | null
  /** What it will have. */
  bytes: Buffer
  /**
   * Appends the bytes, or what `more` returns by then if the file has changed, makes a file that is missing, and closes it.
   * Not synced; a program that replaces the file meanwhile loses it (see `syncAppended`). Returns whether it was made.
   */
  write(): boolean
  /** Closes it without that. */
  close(): void
}

/**
 * Opens a file to append what `more` returns for its content (null: there is no file). Both steps throw `unreadable_file`
 * for what is no regular file or too large, what `more` throws, and errors of the disk, after which the file is as before.
 */
export function openToAppend(
  path: string,
  { maxBytes, within }: AppendOptions,
  more: (present: Buffer | null) => Appendix,
): OpenAppendix {
  let fd: number | null = null

  /** Closes the file after an error, or at the end. */
  function closing<T>(isLast: boolean, work: () => T): T {
    let isDone = false
    try {
      const result = work()
      isDone = true
      return result
    } catch (error) {
      throw storageError(error, path)
    } finally {
      if (fd !== null && (isLast || !isDone)) closeSync(fd)
    }
  }

  function look(): Appendix & Pick<OpenAppendix, 'present'> {
    const present = fd === null ? null : contentOf(fd, path, { maxBytes, within })
    const { keep, bytes } = more(present)
    if (keep + bytes.length > maxBytes)
      throw unreadable(path, `it would have more than ${maxBytes} bytes`)
    return { present, keep, bytes }
  }

  return closing(false, () => {
    fd = opened(path)
    let { present, keep, bytes } = look()
    return {
      present,
      bytes: present ? Buffer.concat([present.subarray(0, keep), bytes]) : Buffer.from(bytes),
      write: () =>
        closing(true, () => {
          fd ??= opened(path)
          const isNew = fd === null
          if (fd === null) fd = made(path, within)
          else if (fstatSync(fd).size !== present?.length) ({ present, keep, bytes } = look())
          if (present && keep < present.length) ftruncateSync(fd, keep)
          appendAll(fd, bytes, keep)
          return isNew
        }),
      close: () => closing(true, () => {}),
    }
  })
}

const NOT_A_FILE = 'it is not a regular file'

function contentOf(fd: number, path: string, { maxBytes, within }: AppendOptions): Buffer {
  if (!isOpenWithin(fd, path, within)) throw movedMeanwhile(dirname(path))
  const stats = fstatSync(fd)
  if (!stats.isFile()) throw unreadable(path, NOT_A_FILE)
  const present = readDescriptor({ fd, stats }, maxBytes)
  if (!present) throw unreadable(path, `it has more than ${maxBytes} bytes`)
  return present
}

const FLAGS = constants.O_RDWR | constants.O_APPEND | constants.O_NOFOLLOW | constants.O_NONBLOCK

/** Null if there is no file. */
function opened(path: string): number | null {
  try {
    return openSync(path, FLAGS)
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return null
    if (hasCode(error, 'ELOOP', 'EISDIR', 'ENXIO', 'ENODEV')) throw unreadable(path, NOT_A_FILE)
    throw error
  }
}

function made(path: string, within: string): number {
  const folder = pinFolder(dirname(path), within)
  try {
    return openSync(
      `${folder.path}/${basename(path)}`,
      FLAGS | constants.O_CREAT | constants.O_EXCL,
    )
  } finally {
    folder.close()
  }
}

/** One write for all, as the kernel appends each write at the end that the file has then. */
function appendAll(fd: number, bytes: Uint8Array, size: number): void {
  if (bytes.length === 0) return
  const written = writeSync(fd, bytes)
  if (written === bytes.length) return
  // a full disk took only a part; cut it, if no other program has appended since
  if (fstatSync(fd).size === size + written) ftruncateSync(fd, size)
  throw Object.assign(new Error(`${written} of ${bytes.length} bytes were written`), {
    code: 'ENOSPC',
  })
}

/** Syncs a file that was appended to, and its folder where it is new. */
export async function syncAppended(path: string, isNew: boolean): Promise<void> {
  const fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    await syncData(fd)
  } finally {
    closeSync(fd)
  }
  if (isNew) await syncFolder(dirname(path))
}

function unreadable(path: string, why: string): AppError {
  return new AppError('unreadable_file', `Lines cannot be appended to ${basename(path)}: ${why}.`)
}
