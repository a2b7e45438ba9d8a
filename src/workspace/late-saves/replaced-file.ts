/** Reads and releases a replaced file, by its descriptor or by its path in the folder of pre-images. */

import { closeSync, fstatSync, lstatSync, type Stats } from 'node:fs'
import { isSameFile, openRegular, readDescriptor } from '../../files/descriptors.ts'
import { discard } from '../../files/new-file.ts'
import type { ReplacedFile, Stamped } from '../../files/replace-seen.ts'

/** Larger files are not read. No editor turns a case file into one. */
export const MAX_REPLACED_BYTES = 64 * 1024 * 1024

/** Returns the current content of a replaced file; null if it was removed. Throws if it is too large. */
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
 * Whether the stamp proves that the file has not been written since. A stamp taken too soon after a write proves
 * nothing (null): another write within the same clock tick leaves the same stamp.
 */
export function isUntouched(at: ReplacedFile, stamped: Stamped | null): boolean {
  if (stamped === null || typeof at === 'number') return false
  const { stats, ctimeMs } = stamped
  const now = lstatSync(at, { throwIfNoEntry: false })
  if (!now || !isSameFile(now, stats) || now.size !== stats.size) return false
  return now.mtimeMs === stats.mtimeMs && now.ctimeMs === ctimeMs
}

/** Closes or removes the file, so that the system can free it. */
export async function releaseReplacedFile(at: ReplacedFile): Promise<void> {
  if (typeof at === 'number') closeSync(at)
  else await discard(at)
}
