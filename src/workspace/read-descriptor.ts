import { fstatSync, readSync } from 'node:fs'

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
