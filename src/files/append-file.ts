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

/**
 * Appends what `more` returns for the present content (null: there is no file, which is made), and returns what the
 * file has then. Not synced; a program that replaces the file meanwhile loses it (see `syncAppended`). Throws
 * `unreadable_file` for what is no regular file or too large, what `more` throws, and errors of the disk, after which
 * the file is as before.
 */
export function appendToFile(
  path: string,
  { maxBytes, within }: AppendOptions,
  more: (present: Buffer | null) => Appendix,
): { bytes: Buffer; isNew: boolean } {
  try {
    const { fd, isNew } = opened(path, within)
    try {
      const present = isNew ? null : contentOf(fd, path, { maxBytes, within })
      const { keep, bytes } = more(present)
      if (keep + bytes.length > maxBytes)
        throw unreadable(path, `it would have more than ${maxBytes} bytes`)
      if (present && keep < present.length) ftruncateSync(fd, keep)
      appendAll(fd, bytes, keep)
      return {
        bytes: present ? Buffer.concat([present.subarray(0, keep), bytes]) : Buffer.from(bytes),
        isNew,
      }
    } finally {
      closeSync(fd)
    }
  } catch (error) {
    throw storageError(error, path)
  }
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

function opened(path: string, within: string): { fd: number; isNew: boolean } {
  const { O_RDWR, O_APPEND, O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK } = constants
  const flags = O_RDWR | O_APPEND | O_NOFOLLOW | O_NONBLOCK
  try {
    return { fd: openSync(path, flags), isNew: false }
  } catch (error) {
    if (hasCode(error, 'ENOENT')) {
      const folder = pinFolder(dirname(path), within)
      try {
        const place = `${folder.path}/${basename(path)}`
        return { fd: openSync(place, flags | O_CREAT | O_EXCL), isNew: true }
      } finally {
        folder.close()
      }
    }
    if (hasCode(error, 'ELOOP', 'EISDIR', 'ENXIO', 'ENODEV')) throw unreadable(path, NOT_A_FILE)
    throw error
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
