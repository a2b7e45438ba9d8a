import { lstat, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { hasCode } from '../../files/errno.ts'
import { entriesIn } from '../../files/folder-names.ts'
import { discard, writeNewFile } from '../../files/new-file.ts'
import type { ReplacedFile, ReplacedFileTracker } from '../../files/replace-seen.ts'
import { uniqueHex } from '../../files/temp-files.ts'
import { hashOf } from '../record.ts'
import { readReplacedFile, releaseReplacedFile } from './replaced-file.ts'

/**
 * The folder of pre-images in the state folder. A pre-image is a file of a case that the service replaced. After a
 * crash its name says which file it was, and which of its bytes are already safe.
 */

const MAX_AGE_MS = 24 * 60 * 60 * 1000
const MAX_COUNT = 1000
const MAX_TOTAL_BYTES = 256 * 1024 * 1024

/** One file of a case, by its path relative to the case's folder. */
export interface FileOfCase {
  id: string
  file: string
}

/** Creates a tracker for each write that replaces a file. `expect` is the file's content, `hash` its hash if known. */
export interface ReplacedFileTrackers {
  trackerFor(file: FileOfCase, expect: Buffer, hash?: string): ReplacedFileTracker
}

/** A pre-image and the file it was. `hash` is the hash of its bytes when it was replaced. */
export interface PreImage extends FileOfCase {
  path: string
  hash: string
}

/** Returns an unused path in the folder of pre-images. */
export function preImagePath(folder: string, { id, file }: FileOfCase, hash: string): string {
  return join(folder, [id, ...file.split('/'), hash, uniqueHex()].join(SEPARATOR))
}

export async function preImagesIn(folder: string): Promise<PreImage[]> {
  return (await entriesIn(folder)).flatMap((name) => {
    const parts = NAME.exec(name)
    if (!parts) return []
    const [, id, file, hash] = parts as unknown as [string, string, string, string]
    return { path: join(folder, name), id, file: file.replaceAll(SEPARATOR, '/'), hash }
  })
}

/** Does not occur in the names of case files. */
const SEPARATOR = '+'
const NAME =
  /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\+((?:(?:sessions|proof)\+)?[A-Za-z0-9][A-Za-z0-9._-]*)\+([0-9a-f]{64})\+[0-9a-f]{12}$/

/** Stores a late save whose case was deleted, for a day. Returns its path in the folder of pre-images. */
export async function keepPreImage(
  folder: string,
  { id, file, base, at }: FileOfCase & { base: Buffer; at: ReplacedFile },
): Promise<string> {
  if (typeof at === 'string') return at
  const path = preImagePath(folder, { id, file }, hashOf(base))
  const found = readReplacedFile(at)
  if (found) await writeNewFile(path, found.bytes, { mode: 0o600 })
  await releaseReplacedFile(at)
  return path
}

/** Renames a pre-image after a merge: its new name records that these bytes are safe, should the service crash. */
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

/** Removes pre-images that are older than a day, and the oldest if there are too many, but none that is `inUse`. */
export async function prunePreImages(
  folder: string,
  inUse: ReadonlySet<ReplacedFile>,
  now = Date.now(),
): Promise<void> {
  const unused = []
  for (const { path } of await preImagesIn(folder)) {
    const stats = inUse.has(path) ? null : await statsOf(path)
    if (stats) unused.push({ path, time: stats.ctimeMs, size: stats.size })
  }
  unused.sort((a, b) => b.time - a.time)
  let bytes = 0
  for (const [index, { path, time, size }] of unused.entries()) {
    bytes += size
    const isOld = now - time > MAX_AGE_MS
    if (isOld || index >= MAX_COUNT || bytes > MAX_TOTAL_BYTES) await discard(path)
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
