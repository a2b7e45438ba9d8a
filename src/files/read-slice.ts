/** Reads parts of files that may be growing, such as the output of a running step. */

import { type Refused, refused, withOpened } from './safe-read.ts'

export type SliceResult = { ok: true; bytes: Buffer; from: number; size: number } | Refused

/**
 * Reads a part of a file that may be growing and that any program may have written. `slice` chooses a range of the
 * current `size`. As strict as `readRegular`.
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

const CHUNK_BYTES = 1024 * 1024

/**
 * Streams the first `size` bytes of a file, as strict as `readSlice`. No handle stays open between chunks, so nothing
 * leaks if the reader stops. Fails if the file becomes shorter.
 */
export function sliceStream(
  path: string,
  size: number,
  options: { within: string },
): ReadableStream<Uint8Array> {
  let from = 0
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const length = Math.min(CHUNK_BYTES, size - from)
        const read = await readSlice(path, () => ({ from, length }), options)
        if (!read.ok) throw new Error(`it is no longer read: ${read.detail}`)
        if (read.bytes.length < length) throw new Error('it became shorter while it was read')
        controller.enqueue(read.bytes)
        from += length
        if (from === size) controller.close()
      },
    },
    { highWaterMark: 0 },
  )
}
