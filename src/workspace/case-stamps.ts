/** Stamps of all files of a case, by which the next start sees whether to read it again. */

import { hash } from 'node:crypto'
import { lstatSync, type Stats } from 'node:fs'
import { hasCode } from '../files/errno.ts'
import type { FileStamp } from '../files/safe-read.ts'
import type { CaseEntry } from './case-entry.ts'
import { isLatestWrong } from './latest.ts'

/** The stamps of a case's files when they were read: while they are the same, the files are unchanged. */
export interface CaseStamps {
  /** Its folders and files, relative to its own folder, one a line; `.` is that folder. */
  names: string
  /** Of the stamps of these, in this order; null where one of them cannot vouch for what was read. */
  print: string | null
}

type Stamp = Pick<FileStamp, 'size' | 'mtimeMs' | 'ctimeMs' | 'ino' | 'dev'>

const NUMBERS_PER_FILE = 5
let numbers = new Float64Array(NUMBERS_PER_FILE * 64)

/** Most cases have the same few names, which then take memory once. */
const shortNames = new Map<string, string>()

export function stampsOf(entry: CaseEntry): CaseStamps {
  const { folders, file, sessions, proofs, notes } = entry
  const named: [string, FileStamp | null][] = [...folders, ['case.md', file.stamp]]
  for (const [number, { stamp }] of sessions) named.push([`sessions/${number}.md`, stamp])
  for (const [id, { stamp }] of proofs) named.push([`proof/${id}.md`, stamp])
  for (const [name, { stamp }] of notes) named.push([name, stamp])
  const names = shared(named.map(([name]) => name).join('\n'))
  // the link to the newest session is set by a look that finds a difference
  const print = isLatestWrong(entry) ? null : printOf(named.map(([, stamp]) => stamp))
  return { names, print }
}

/** Whether the files of a case in this folder are as they were read; some microseconds for each. */
export function isUnchanged({ names, print }: CaseStamps, folder: string): boolean {
  if (print === null) return false
  const stamps = names
    .split('\n')
    .map((name) => statsOf(name === '.' ? folder : `${folder}/${name}`))
  return printOf(stamps) === print
}

/** The folders among the names, as `CaseEntry.folders` has them. */
export function folderNames({ names }: CaseStamps): string[] {
  return names.split('\n').filter((name) => !/\.md$/i.test(name))
}

/** The names as one text for all cases that have the same; long ones are seldom the same. */
export function shared(names: string): string {
  if (names.length > 40) return names
  const known = shortNames.get(names)
  if (known === undefined) shortNames.set(names, names)
  return known ?? names
}

export function printOf(stamps: readonly (Stamp | null)[]): string | null {
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

/** Null also if the disk fails: reading the file then gives the reason. */
function statsOf(path: string): Stats | null {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) ?? null
  } catch (error) {
    if (hasCode(error, 'EACCES', 'EIO', 'ESTALE', 'ENOTDIR')) return null
    throw error
  }
}
