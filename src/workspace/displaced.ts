import { closeSync, fstatSync } from 'node:fs'
import { openRegular, readDescriptor } from './descriptors.ts'
import { discard } from './new-file.ts'
import type { Displaced } from './replace-seen.ts'

type Place = Displaced['at']

/** What a displaced file holds now; null where its name was removed. Throws over `maxBytes`. */
export function displacedContent(
  at: Place,
  maxBytes: number,
): { bytes: Buffer; mtimeMs: number } | null {
  const open = new Set<number>()
  try {
    const fd = typeof at === 'number' ? at : openRegular(at, open)?.fd
    if (fd === undefined) return null
    const { mtimeMs } = fstatSync(fd)
    const bytes = readDescriptor(fd, maxBytes)
    if (bytes) return { bytes, mtimeMs }
    throw new Error(`it has more than ${maxBytes} bytes`)
  } finally {
    for (const fd of open) closeSync(fd)
  }
}

/** Lets go of it, so that the system can remove what has no name any more. */
export async function releaseDisplaced(at: Place): Promise<void> {
  if (typeof at === 'number') closeSync(at)
  else await discard(at)
}
