import { type Refused, refused, withOpened } from './safe-read.ts'

export type SliceResult = { ok: true; bytes: Buffer; from: number; size: number } | Refused

/**
 * A part of a file that anybody may have put there, and that may be growing: `slice` says which of the
 * `size` bytes that it has now; behind the end there are none. As guarded as `readRegular`.
 */
export function readSlice(
  path: string,
  slice: (size: number) => { from: number; length: number },
  options: { within: string },
): Promise<SliceResult> {
  return withOpened<SliceResult>(path, options, async (handle) => {
    const stats = await handle.stat()
    if (!stats.isFile()) return refused('not_a_file', 'it is not a regular file')
    const { size } = stats
    const { from, length } = slice(size)
    const bytes = Buffer.allocUnsafe(Math.max(0, Math.min(length, size - from)))
    let filled = 0
    while (filled < bytes.length) {
      const { bytesRead } = await handle.read(bytes, filled, bytes.length - filled, from + filled)
      if (bytesRead === 0) break
      filled += bytesRead
    }
    return { ok: true, bytes: bytes.subarray(0, filled), from, size }
  })
}
