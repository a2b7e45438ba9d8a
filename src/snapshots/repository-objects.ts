/** Finds objects that disappeared from the user's repository while an agent planned. */

import { open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { hasCode, isBarred } from '../files/errno.ts'
import { runGit } from '../git/command.ts'
import { createScratchRepository, type GitLimits, openScratchFolder } from '../git/scratch.ts'

/** Object ids by file, such as `ab/cdef…` or `pack/pack-….idx`. */
export type StoredObjects = Map<string, string[]>

const LOOSE = /^(?:[0-9a-f]{38}|[0-9a-f]{62})$/
const PACK = /^pack-([0-9a-f]{40}|[0-9a-f]{64})\.(?:idx|pack)$/

/** Lists the objects in a repository's object folder; only a sample for each pack. */
export async function storedObjects(objects: string): Promise<StoredObjects> {
  const stored: StoredObjects = new Map()
  const folders = (await namesIn(objects)).filter((name) => /^[0-9a-f]{2}$/.test(name))
  const lists = await Promise.all(folders.map((folder) => namesIn(join(objects, folder))))
  folders.forEach((folder, at) => {
    for (const name of lists[at] ?? []) {
      if (LOOSE.test(name)) stored.set(`${folder}/${name}`, [`${folder}${name}`])
    }
  })
  for (const name of await namesIn(join(objects, 'pack'))) {
    const [, id] = PACK.exec(name) ?? []
    if (!id) continue
    const index = join(objects, 'pack', `pack-${id}.idx`)
    stored.set(`pack/${name}`, await someIds(index, id.length / 2))
  }
  return stored
}

/**
 * Counts object files whose objects have disappeared; housekeeping only moves objects between files. Git runs in a
 * new repository in `scratch`, since the user's may be configured to fetch missing objects.
 */
export async function countMissing(
  objects: string,
  before: StoredObjects,
  scratch: string,
  limits: GitLimits,
): Promise<number> {
  const now = await storedObjects(objects)
  const missingFiles = [...before].filter(([name]) => !now.has(name))
  const ids = missingFiles.flatMap(([, some]) => some)
  if (ids.length === 0) return missingFiles.length
  const missing = await missingOf(ids, objects, scratch, limits)
  return missingFiles.filter(([, some]) => some.length === 0 || some.some((id) => missing.has(id)))
    .length
}

async function missingOf(
  ids: readonly string[],
  objects: string,
  scratch: string,
  limits: GitLimits,
): Promise<Set<string>> {
  const folder = await openScratchFolder(scratch)
  try {
    const objectFormat = ids[0]?.length === 64 ? 'sha256' : 'sha1'
    const git = await createScratchRepository(folder.path, folder.path, {
      ...limits,
      objectFormat,
      borrow: [objects],
    })
    const input = ids.map((id) => `${id}\n`).join('')
    const { exit, stdout } = await runGit(['cat-file', '--batch-check'], { ...git, input })
    if (exit !== 0) return new Set(ids)
    const lines = stdout.toString().split('\n')
    return new Set(
      lines.filter((line) => line.endsWith(' missing')).map((line) => line.split(' ')[0] ?? ''),
    )
  } finally {
    await folder.remove()
  }
}

const HEADER_BYTES = 8
const COUNTS_BYTES = 256 * 4
const MOST_IDS = 100

/** Returns the first ids of a pack's index. It is sorted by hash, so they are a random sample. */
async function someIds(index: string, idBytes: number): Promise<string[]> {
  const handle = await open(index).catch(ignoreMissing)
  if (!handle) return []
  try {
    const start = HEADER_BYTES + COUNTS_BYTES
    const bytes = Buffer.alloc(start + MOST_IDS * idBytes)
    const { bytesRead } = await handle.read(bytes, 0, bytes.length, 0)
    // index version 1, which git no longer writes, has another format
    if (bytesRead < start || bytes.toString('latin1', 0, 4) !== '\xfftOc') return []
    const count = Math.min(bytes.readUInt32BE(start - 4), MOST_IDS)
    return Array.from({ length: count }, (_, at) =>
      bytes.toString('hex', start + at * idBytes, start + (at + 1) * idBytes),
    )
  } finally {
    await handle.close()
  }
}

async function namesIn(folder: string): Promise<string[]> {
  return (await readdir(folder).catch(ignoreMissing)) ?? []
}

function ignoreMissing(error: unknown): null {
  if (hasCode(error, 'ENOENT', 'ENOTDIR') || isBarred(error)) return null
  throw error
}
