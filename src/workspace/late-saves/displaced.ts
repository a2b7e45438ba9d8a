import { closeSync, fstatSync, lstatSync, type Stats } from 'node:fs'
import { isSameFile, openRegular, readDescriptor } from '../../files/descriptors.ts'
import { discard } from '../../files/new-file.ts'
import type { ReplacedFile, Stamped } from '../../files/replace-seen.ts'

/** What is larger no editor made out of a file of ours. */
export const MAX_DISPLACED_BYTES = 64 * 1024 * 1024

/** What a displaced file holds now; null where its name was removed. Throws when that is too much. */
export function displacedContent(at: ReplacedFile): { bytes: Buffer; stats: Stats } | null {
  const open = new Set<number>()
  try {
    const file = typeof at === 'number' ? { fd: at, stats: fstatSync(at) } : openRegular(at, open)
    if (!file) return null
    const bytes = readDescriptor(file, MAX_DISPLACED_BYTES)
    if (bytes) return { bytes, stats: file.stats }
    throw new Error(`it has more than ${MAX_DISPLACED_BYTES} bytes`)
  } finally {
    for (const fd of open) closeSync(fd)
  }
}

/**
 * Whether nobody has written into it since it had these stats, as far as these tell; null stands for stats that do
 * not, as they were taken too soon after a write: a second one within the same tick of the clock leaves no trace.
 */
export function isUntouched(at: ReplacedFile, stamped: Stamped | null): boolean {
  if (stamped === null || typeof at === 'number') return false
  const { stats, ctimeMs } = stamped
  const now = lstatSync(at, { throwIfNoEntry: false })
  if (!now || !isSameFile(now, stats) || now.size !== stats.size) return false
  return now.mtimeMs === stats.mtimeMs && now.ctimeMs === ctimeMs
}

/** Lets go of it, so that the system can remove what has no name any more. */
export async function releaseDisplaced(at: ReplacedFile): Promise<void> {
  if (typeof at === 'number') closeSync(at)
  else await discard(at)
}
