import { lstatSync } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import type { CaseEntry } from './catalog.ts'
import { hasCode } from './disk/errno.ts'
import { type FileStamp, sameStamp } from './disk/safe-read.ts'

/** Stamps are taken synchronously, ten times faster than one by one in the thread pool, for at most so long. */
const SLICE_MS = 8
let sliceBegan = 0

/** Whether nothing of a case has another stamp than when it was read. */
export async function looksSame(entry: CaseEntry, folder: string): Promise<boolean> {
  if (performance.now() - sliceBegan > SLICE_MS) {
    await setImmediate()
    sliceBegan = performance.now()
  }
  return isAsRead(entry, folder)
}

/** The same at once: for one case, some microseconds. */
export function isAsRead(entry: CaseEntry, folder: string): boolean {
  for (const [name, stamp] of entry.folders) {
    if (!isSame(`${folder}/${name}`, stamp)) return false
  }
  if (!isSame(`${folder}/case.md`, entry.file.stamp)) return false
  for (const [number, { stamp }] of entry.sessions) {
    if (!isSame(`${folder}/sessions/${number}.md`, stamp)) return false
  }
  for (const [id, { stamp }] of entry.proofs) {
    if (!isSame(`${folder}/proof/${id}.md`, stamp)) return false
  }
  for (const [name, { stamp }] of entry.notes) {
    if (!isSame(`${folder}/${name}`, stamp)) return false
  }
  return true
}

function isSame(path: string, known: FileStamp | null): boolean {
  if (known === null) return false
  try {
    const stats = lstatSync(path, { throwIfNoEntry: false })
    return stats !== undefined && sameStamp(stats, known)
  } catch (error) {
    if (hasCode(error, 'EACCES', 'EIO', 'ESTALE')) return false
    throw error
  }
}
