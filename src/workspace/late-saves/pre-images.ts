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
 * The folder of pre-images: each is a file of a case that a write of the service replaced, under a name that says after a
 * crash which file it was and which bytes of it are safe.
 */

const MAX_AGE_MS = 24 * 60 * 60 * 1000
const MAX_COUNT = 1000
const MAX_TOTAL_BYTES = 256 * 1024 * 1024

/** One file of a case, by its path relative to the case's folder. */
export interface FileOfCase {
  id: string
  file: string
}

/**
 * Who looks after the files that writes displace: one tracker for each write onto a file that holds `expect`,
 * with its hash where that is at hand.
 */
export interface ReplacedFileTrackers {
  trackerFor(of: FileOfCase, expect: Buffer, hash?: string): ReplacedFileTracker
}

/** A pre-image and the file that it was; `hash` is that of its bytes when it was replaced. */
export interface PreImage extends FileOfCase {
  path: string
  hash: string
}

/** A free name in the folder of pre-images. */
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

/** No name of a file of a case has it. */
const SEPARATOR = '+'
const NAME =
  /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\+((?:(?:sessions|proof)\+)?[A-Za-z0-9][A-Za-z0-9._-]*)\+([0-9a-f]{64})\+[0-9a-f]{12}$/

/** Keeps a late save that no case has a place for any more, for a day; returns its path in the folder of pre-images. */
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

/** After a merge, so that a start after a crash knows from the name that these bytes are safe. */
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

/** Removes the pre-images that are older than a day, and the oldest where there are too many, but none that is `inUse`. */
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
