import { lstatSync, type Stats } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import { hasCode } from '../files/errno.ts'
import { type FileStamp, sameStamp } from '../files/safe-read.ts'
import type { CaseEntry } from './case-entry.ts'
import { type KeptCase, printNow } from './kept/kept-case.ts'

/** Stamps are taken synchronously, ten times faster than one by one in the thread pool, for at most so long. */
const SLICE_MS = 8
let sliceBegan = 0

/** Whether nothing of a case has another stamp than when it was read. */
export async function looksSame(known: CaseEntry | KeptCase, folder: string): Promise<boolean> {
  if (performance.now() - sliceBegan > SLICE_MS) {
    await setImmediate()
    sliceBegan = performance.now()
  }
  return isAsRead(known, folder)
}

/** The same at once: for one case, some microseconds. */
export function isAsRead(known: CaseEntry | KeptCase, folder: string): boolean {
  return 'print' in known
    ? printNow(folder, known.names, statOf) === known.print
    : isEntryAsRead(known, folder)
}

function isEntryAsRead(entry: CaseEntry, folder: string): boolean {
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
  const stats = known && statOf(path)
  return stats ? sameStamp(stats, known) : false
}

/** Null also where the disk does not say: reading it then tells why. */
function statOf(path: string): Stats | null {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) ?? null
  } catch (error) {
    if (hasCode(error, 'EACCES', 'EIO', 'ESTALE', 'ENOTDIR')) return null
    throw error
  }
}
