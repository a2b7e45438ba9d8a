/** Reads a small file again only when its stamp has changed; for settings and trust. */

import { type FileStamp, type ReadResult, readRegular, sameStamp, stampOf } from './safe-read.ts'

interface RereadOptions<T> {
  maxBytes: number
  /** For this time after its last change a file is read each time, as it may still be written. */
  settleMs: number
  take(read: ReadResult): T | Promise<T>
}

/** Returns the content of a small file, read again when its stamp has changed. */
export function createReread<T>(path: string, options: RereadOptions<T>): () => Promise<T> {
  const { maxBytes, settleMs, take } = options
  let known: { stamp: FileStamp; value: T } | null = null
  return async () => {
    const now = await stampOf(path)
    if (now && known && sameStamp(known.stamp, now)) return known.value
    const read = await readRegular(path, { maxBytes })
    const value = await take(read)
    const stamp = read.ok ? read.stat : now
    known = stamp && Date.now() - stamp.ctimeMs > settleMs ? { stamp, value } : null
    return value
  }
}
