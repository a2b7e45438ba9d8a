/** Stamps of all files of a case. If they are unchanged at the next start, the case is not read again. */

import { hash } from 'node:crypto'
import { stampNow } from '../../files/read-now.ts'
import type { FileStamp } from '../../files/safe-read.ts'
import type { CaseEntry } from '../case-entry.ts'
import { isLatestWrong } from '../latest.ts'

const NUMBERS_PER_FILE = 5
let numbers = new Float64Array(NUMBERS_PER_FILE * 64)

/**
 * The stamps of a case's files when they were read: a hash, and the names of its folders and files relative to the case
 * folder, which is `.`, one per line. Empty if a stamp is too recent to prove anything.
 */
export function stampsOf(entry: CaseEntry): string {
  const { folders, file, sessions, proofs, notes } = entry
  const named: [string, FileStamp | null][] = [...folders, ['case.md', file.stamp]]
  for (const [number, { stamp }] of sessions) named.push([`sessions/${number}.md`, stamp])
  for (const [id, { stamp, value, picture }] of proofs) {
    named.push([`proof/${id}.md`, stamp])
    if (value?.image) named.push([`artifacts/${value.image.name}`, picture?.stamp ?? null])
  }
  for (const [name, { stamp }] of notes) named.push([name, stamp])
  // empty, so that the next read corrects the link latest.md
  const print = isLatestWrong(entry) ? null : printOf(named.map(([, stamp]) => stamp))
  return print === null ? '' : [print, ...named.map(([name]) => name)].join('\n')
}

/** Whether the files of a case have not changed since they were read. Takes a few microseconds per file. */
export function isUnchanged(stamps: string, folder: string): boolean {
  if (stamps === '') return false
  const [print, ...names] = stamps.split('\n')
  return (
    printOf(names.map((name) => stampNow(name === '.' ? folder : `${folder}/${name}`))) === print
  )
}

function printOf(stamps: readonly (FileStamp | null)[]): string | null {
  const length = stamps.length * NUMBERS_PER_FILE
  if (length > numbers.length) numbers = new Float64Array(length * 2)
  let at = 0
  for (const stamp of stamps) {
    if (!stamp) return null
    numbers[at++] = stamp.size
    numbers[at++] = stamp.mtimeMs
    numbers[at++] = stamp.ctimeMs
    numbers[at++] = stamp.ino
    numbers[at++] = stamp.dev
  }
  return hash('md5', new Uint8Array(numbers.buffer, 0, length * 8)).slice(0, 16)
}
