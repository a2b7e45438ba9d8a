/**
 * Reads, writes and syncs by open file descriptors, so that no program can swap the file between
 * two calls. These are the only read and write loops of the program.
 */

import {
  close,
  constants,
  fdatasync,
  fstatSync,
  fsync,
  openSync,
  readSync,
  type Stats,
  write,
  writeSync,
} from 'node:fs'
import { promisify } from 'node:util'
import { hasCode } from './errno.ts'

export interface OpenFile {
  fd: number
  stats: Stats
}

/**
 * Opens the file at `path` and adds it to `open`, which the caller closes; null if it is not a regular file. Links
 * are not followed, and FIFOs do not block.
 */
export function openRegular(path: string, open: Set<number>): OpenFile | null {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants
  try {
    const fd = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
    open.add(fd)
    const stats = fstatSync(fd)
    return stats.isFile() ? { fd, stats } : null
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ELOOP', 'ENXIO', 'ENODEV')) return null
    throw error
  }
}

/** Reads the whole open file; null if it is larger than `maxBytes`. */
export function readDescriptor({ fd, stats }: OpenFile, maxBytes: number): Buffer | null {
  let { size } = stats
  while (size <= maxBytes) {
    const buffer = Buffer.allocUnsafe(size + 1)
    let length = 0
    do {
      const read = readSync(fd, buffer, length, buffer.length - length, length)
      length += read
      // a short read of a regular file means its end
      if (length < buffer.length && (read === 0 || length >= size))
        return buffer.subarray(0, length)
    } while (length < buffer.length)
    if (size === maxBytes) return null
    // it has grown since, or its file system does not say how large it is
    size = Math.min(maxBytes, Math.max(2 * size + 1, fstatSync(fd).size))
  }
  return null
}

export function isSameFile(a: Stats | undefined, b: Stats): boolean {
  return a?.ino === b.ino && a.dev === b.dev
}

/** Writes all bytes from `position` on; small writes are synchronous, as they only go to the page cache. */
export async function writeDescriptor(fd: number, bytes: Uint8Array, position = 0): Promise<void> {
  const isSmall = bytes.length <= SMALL_BYTES
  let written = 0
  // one call may write only a part, for example on a nearly full disk
  while (written < bytes.length) {
    const rest = bytes.length - written
    const at = position + written
    written += isSmall
      ? writeSync(fd, bytes, written, rest, at)
      : (await writeAsync(fd, bytes, written, rest, at)).bytesWritten
  }
}

/** Syncs in the thread pool, as it would block the event loop. */
export function syncDescriptor(fd: number): Promise<void> {
  return new Promise((resolve, reject) => {
    fsync(fd, (error) => (error ? reject(error) : resolve()))
  })
}
export const syncData = promisify(fdatasync)

/** Closes in the thread pool, as freeing a file without a name takes a while. */
export const closeDescriptor = promisify(close)

/** Up to this size a write is synchronous: it takes about 20 µs. */
const SMALL_BYTES = 64 * 1024
const writeAsync = promisify(write)
