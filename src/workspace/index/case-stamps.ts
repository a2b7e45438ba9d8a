/** Stamps of all files of a case. If they are unchanged at the next start, the case is not read again. */

import { hash } from 'node:crypto'
import { stampNow } from '../../files/read-now.ts'
import type { FileStamp } from '../../files/safe-read.ts'
import type { CaseEntry } from '../case-entry.ts'
import { isLatestWrong } from '../latest.ts'

/** The stamps of a case's files when they were read. */
export interface CaseStamps {
  /** Names of its folders and files, one per line, relative to the case folder, which is `.`. */
  names: string
  /** Hash of their stamps, in this order; null if a stamp is too recent to prove anything. */
  print: string | null
}

const NUMBERS_PER_FILE = 5
let numbers = new Float64Array(NUMBERS_PER_FILE * 64)

/** Most cases have the same names, which are stored once. */
const shortNames = new Map<string, string>()

export function stampsOf(entry: CaseEntry): CaseStamps {
  const { folders, file, sessions, proofs, notes } = entry
  const named: [string, FileStamp | null][] = [...folders, ['case.md', file.stamp]]
  for (const [number, { stamp }] of sessions) named.push([`sessions/${number}.md`, stamp])
  for (const [id, { stamp, value, picture }] of proofs) {
    named.push([`proof/${id}.md`, stamp])
    if (value?.image) named.push([`artifacts/${value.image.name}`, picture?.stamp ?? null])
  }
  for (const [name, { stamp }] of notes) named.push([name, stamp])
  const names = shared(named.map(([name]) => name).join('\n'))
  // no hash, so that the next read corrects the link latest.md
  const print = isLatestWrong(entry) ? null : printOf(named.map(([, stamp]) => stamp))
  return { names, print }
}

/** Whether the files of a case have not changed since they were read. Takes a few microseconds per file. */
export function isUnchanged({ names, print }: CaseStamps, folder: string): boolean {
  if (print === null) return false
  const stamps = names
    .split('\n')
    .map((name) => stampNow(name === '.' ? folder : `${folder}/${name}`))
  return printOf(stamps) === print
}

/** As stored; empty if they prove nothing. */
export function encodeStamps({ names, print }: CaseStamps): string {
  return print === null ? '' : `${print} ${names}`
}

export function decodeStamps(text: string): CaseStamps {
  const end = text.indexOf(' ')
  return {
    names: shared(copied(text.slice(end + 1))),
    print: end < 0 ? null : copied(text.slice(0, end)),
  }
}

/** Returns a copy, as a slice keeps the whole text in memory. */
function copied(text: string): string {
  return Buffer.from(text).toString()
}

/** Returns one shared string for equal names. Long names are rarely equal. */
function shared(names: string): string {
  if (names.length > 40) return names
  const known = shortNames.get(names)
  if (known === undefined) shortNames.set(names, names)
  return known ?? names
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
