/**
 * Reads, writes and syncs by open file descriptors, so that nobody can swap the file between two calls. The one read
 * loop and the one write loop of the program.
 */

import {
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
 * Opens the file at `path` itself, and adds it to `open`, for the caller to close; null where no
 * regular file is. Neither a link nor a FIFO leads it anywhere.
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

/** All that an open regular file holds now; null when it is more than `maxBytes`. */
export function readDescriptor({ fd, stats }: OpenFile, maxBytes: number): Buffer | null {
  for (let { size } = stats; ; { size } = fstatSync(fd)) {
    if (size > maxBytes) return null
    const buffer = Buffer.allocUnsafe(size + 1)
    let length = 0
    do {
      const read = readSync(fd, buffer, length, buffer.length - length, length)
      length += read
      // of a regular file, less than what was asked for is all there is
      if (length < buffer.length && (read === 0 || length >= size))
        return buffer.subarray(0, length)
    } while (length < buffer.length)
    // it grew meanwhile
  }
}

export function isSameFile(a: Stats | undefined, b: Stats): boolean {
  return a?.ino === b.ino && a.dev === b.dev
}

/** Writes all of it from `position` on; what is small goes to the page cache at once. */
export async function writeDescriptor(fd: number, bytes: Uint8Array, position = 0): Promise<void> {
  const isSmall = bytes.length <= SMALL
  let written = 0
  // one call may write less than it was given, which is how a nearly full disk looks
  while (written < bytes.length) {
    const rest = bytes.length - written
    const at = position + written
    written += isSmall
      ? writeSync(fd, bytes, written, rest, at)
      : (await writeLater(fd, bytes, written, rest, at)).bytesWritten
  }
}

/** What the disk takes its time for never keeps the event loop waiting. */
export function syncDescriptor(fd: number): Promise<void> {
  return new Promise((resolve, reject) => {
    fsync(fd, (error) => (error ? reject(error) : resolve()))
  })
}
export const syncData = promisify(fdatasync)

/** Copied in some 20 µs. */
const SMALL = 64 * 1024
const writeLater = promisify(write)
