import { readSlice } from './read-slice.ts'

const CHUNK_BYTES = 1024 * 1024

/**
 * The first `size` bytes of a file, as guarded as `readSlice`. No handle is held between the chunks, so
 * nothing is left open where nobody reads on. It breaks off where the file has become shorter.
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
