/** Reads and releases a file that has lost its name. */

import { closeSync, fstatSync, lstatSync, type Stats } from 'node:fs'
import { isSameFile, openRegular, readDescriptor } from '../../files/descriptors.ts'
import { discard } from '../../files/new-file.ts'
import type { ReplacedFile, Stamped } from '../../files/replace-seen.ts'

/** No editor makes a larger file out of one of ours. */
export const MAX_REPLACED_BYTES = 64 * 1024 * 1024

/** What a replaced file says now; null if somebody removed it. Throws if it is too large. */
export function readReplacedFile(at: ReplacedFile): { bytes: Buffer; stats: Stats } | null {
  const open = new Set<number>()
  try {
    const file = typeof at === 'number' ? { fd: at, stats: fstatSync(at) } : openRegular(at, open)
    if (!file) return null
    const bytes = readDescriptor(file, MAX_REPLACED_BYTES)
    if (bytes) return { bytes, stats: file.stats }
    throw new Error(`it has more than ${MAX_REPLACED_BYTES} bytes`)
  } finally {
    for (const fd of open) closeSync(fd)
  }
}

/**
 * Whether its stamp proves that nobody has written into it. A stamp taken too soon after a write proves nothing (null):
 * another write within the same tick of the clock leaves the same stamp.
 */
export function isUntouched(at: ReplacedFile, stamped: Stamped | null): boolean {
  if (stamped === null || typeof at === 'number') return false
  const { stats, ctimeMs } = stamped
  const now = lstatSync(at, { throwIfNoEntry: false })
  if (!now || !isSameFile(now, stats) || now.size !== stats.size) return false
  return now.mtimeMs === stats.mtimeMs && now.ctimeMs === ctimeMs
}

/** Closes or removes it, so that the system can free it. */
export async function releaseReplacedFile(at: ReplacedFile): Promise<void> {
  if (typeof at === 'number') closeSync(at)
  else await discard(at)
}
