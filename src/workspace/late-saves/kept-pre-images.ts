import { lstat, rename } from 'node:fs/promises'
import { hasCode } from '../../files/errno.ts'
import { discard, writeNewFile } from '../../files/new-file.ts'
import type { ReplacedFile } from '../../files/replace-seen.ts'
import { hashOf } from '../record.ts'
import { displacedContent, releaseDisplaced } from './displaced.ts'
import { type FileOfCase, preImagePath, preImagesIn } from './pre-images.ts'

/** What a person saved and nothing has a place for: it stays in the folder of pre-images. */
const KEPT_MS = 24 * 60 * 60 * 1000
const MAX_KEPT = 1000
const MAX_KEPT_BYTES = 256 * 1024 * 1024

/** Leaves what was displaced where it is, or gives it a name there; gives its path. */
export async function keepPreImage(
  folder: string,
  { id, file, base, at }: FileOfCase & { base: Buffer; at: ReplacedFile },
): Promise<string> {
  if (typeof at === 'string') return at
  const path = preImagePath(folder, { id, file }, hashOf(base))
  const found = displacedContent(at)
  if (found) await writeNewFile(path, found.bytes, { mode: 0o600 })
  await releaseDisplaced(at)
  return path
}

/** After a rescue, so that a start after a crash knows from its name that these bytes are safe. */
export async function renamePreImage(
  folder: string,
  { id, file, base, at }: FileOfCase & { base: Buffer; at: ReplacedFile },
): Promise<ReplacedFile> {
  if (typeof at === 'number') return at
  const path = preImagePath(folder, { id, file }, hashOf(base))
  try {
    await rename(at, path)
    return path
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return at
    throw error
  }
}

/** Removes the pre-images that are older than a day, and the oldest of too many; not those still `inUse`. */
export async function pruneKept(
  folder: string,
  inUse: ReadonlySet<ReplacedFile>,
  now = Date.now(),
): Promise<void> {
  const kept = []
  for (const { path } of await preImagesIn(folder)) {
    const stats = inUse.has(path) ? null : await statsOf(path)
    if (stats) kept.push({ path, time: stats.ctimeMs, size: stats.size })
  }
  kept.sort((a, b) => b.time - a.time)
  let bytes = 0
  for (const [index, { path, time, size }] of kept.entries()) {
    bytes += size
    const isOld = now - time > KEPT_MS
    if (isOld || index >= MAX_KEPT || bytes > MAX_KEPT_BYTES) await discard(path)
  }
}

async function statsOf(path: string) {
  try {
    return await lstat(path)
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return null
    throw error
  }
}
