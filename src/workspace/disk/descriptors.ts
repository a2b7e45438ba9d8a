import { constants, fstatSync, openSync, readSync, type Stats } from 'node:fs'
import { hasCode } from './errno.ts'

export interface OpenFile {
  fd: number
  stats: Stats
}

/**
 * Opens what stands at `path` itself, and adds it to `open`, for the caller to close; null where no
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
export function readDescriptor(fd: number, maxBytes: number): Buffer | null {
  for (;;) {
    const { size } = fstatSync(fd)
    if (size > maxBytes) return null
    const buffer = Buffer.allocUnsafe(size + 1)
    let length = 0
    while (length < buffer.length) {
      const read = readSync(fd, buffer, length, buffer.length - length, length)
      if (read === 0) return buffer.subarray(0, length)
      length += read
    }
    // it grew meanwhile
  }
}

export function isSameFile(a: Stats | undefined, b: Stats): boolean {
  return a?.ino === b.ino && a.dev === b.dev
}
