import { closeSync, constants, fstatSync, openSync } from 'node:fs'
import { hasCode } from './errno.ts'
import { discard } from './new-file.ts'
import { readDescriptor } from './read-descriptor.ts'
import type { Displaced } from './replace-seen.ts'

type Place = Displaced['at']

/** What a displaced file holds now; null where its hard link was removed. Throws over `maxBytes`. */
export function displacedContent(
  at: Place,
  maxBytes: number,
): { bytes: Buffer; mtimeMs: number } | null {
  const fd = typeof at === 'number' ? at : openLink(at)
  if (fd === null) return null
  try {
    const { mtimeMs } = fstatSync(fd)
    const bytes = readDescriptor(fd, maxBytes)
    if (bytes) return { bytes, mtimeMs }
    throw new Error(`it has more than ${maxBytes} bytes`)
  } finally {
    if (fd !== at) closeSync(fd)
  }
}

/** Lets go of it, so that the system can remove what has no name any more. */
export async function releaseDisplaced(at: Place): Promise<void> {
  if (typeof at === 'number') closeSync(at)
  else await discard(at)
}

function openLink(path: string): number | null {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants
  try {
    return openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return null
    throw error
  }
}
