import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'

const CHUNK_BYTES = 256 * 1024
const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants

/** Whether two regular files have the same bytes. */
export async function hasSameContent(a: Buffer, b: Buffer, signal: AbortSignal): Promise<boolean> {
  const files: FileHandle[] = []
  try {
    for (const path of [a, b]) files.push(await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK))
    const sizes = await Promise.all(files.map(async (file) => (await file.stat()).size))
    if (sizes[0] !== sizes[1]) return false
    const buffers = files.map(() => Buffer.allocUnsafe(CHUNK_BYTES))
    for (let at = 0; at < sizes[0]!; at += CHUNK_BYTES) {
      signal.throwIfAborted()
      const read = await Promise.all(
        files.map(async (file, index) => {
          const { bytesRead } = await file.read(buffers[index]!, 0, CHUNK_BYTES, at)
          return buffers[index]!.subarray(0, bytesRead)
        }),
      )
      if (!read[0]!.equals(read[1]!)) return false
    }
    return true
  } finally {
    for (const file of files) await file.close()
  }
}
