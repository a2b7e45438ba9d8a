/** Stamps of all files of a case. While they are unchanged, the case is not read again. */

import { hash } from 'node:crypto'
import { stampNow } from '../../files/read-now.ts'
import type { FileStamp } from '../../files/safe-read.ts'
import { yieldIfBusy } from '../../files/yielding.ts'
import type { CaseEntry } from '../case-entry.ts'
import { isLatestWrong } from '../latest.ts'

const NUMBERS_PER_FILE = 5
let numbers = new Float64Array(NUMBERS_PER_FILE * 64)

/** With more sessions and memory files than this, requests look only at those that the watcher names. */
const FEW = 200
/** Before the stamps of sessions and memory files, if there are many. Not `\0`, at which SQLite cuts. */
const MANY = '\n\n'

/** By the memory files, which are the same object until one changes. */
const lastMany = new WeakMap<CaseEntry['notes'], { sessions: object; many: string }>()

type NamedStamps = [name: string, stamp: FileStamp | null][]

/**
 * The stamps of a case's files when they were read: a hash, and the names of its folders and files relative to the case
 * folder, which is `.`, one per line. Empty if a stamp is too recent to prove anything. Many sessions and memory files
 * are a second such text.
 */
export function stampsOf(entry: CaseEntry): string {
  const { folders, file, sessions, proofs, notes } = entry
  const named: NamedStamps = [...folders, ['case.md', file.stamp]]
  const isMany = sessions.size + notes.size > FEW
  const last = isMany ? lastMany.get(notes) : undefined
  const isSame = last?.sessions === sessions
  const others: NamedStamps = isMany ? [] : named
  if (!isSame)
    for (const [number, { stamp }] of sessions) others.push([`sessions/${number}.md`, stamp])
  for (const [id, { stamp, value, picture }] of proofs) {
    named.push([`proof/${id}.md`, stamp])
    if (value?.image) named.push([`artifacts/${value.image.name}`, picture?.stamp ?? null])
  }
  if (!isSame) for (const [name, { stamp }] of notes) others.push([name, stamp])
  // empty, so that the next read corrects the link latest.md
  const stamps = isLatestWrong(entry) ? '' : textOf(named)
  if (!isMany) return stamps
  const many = isSame ? last!.many : textOf(others)
  lastMany.set(notes, { sessions, many })
  return stamps + MANY + many
}

function textOf(named: NamedStamps): string {
  const fingerprint = fingerprintOf(named.map(([, stamp]) => stamp))
  return fingerprint === null ? '' : [fingerprint, ...named.map(([name]) => name)].join('\n')
}

/** Whether the case has many sessions and memory files. */
export function hasMany(stamps: string | undefined): boolean {
  return stamps?.includes(MANY) === true
}

/**
 * Whether the files of a case have not changed since they were read. Takes a few microseconds per file. Of many sessions
 * and memory files it looks at none if the watcher says which have changed (`changed`).
 */
export async function isUnchanged(
  stamps: string,
  folder: string,
  changed: ReadonlySet<string> | null = null,
): Promise<boolean> {
  const [first = '', many] = stamps.split(MANY)
  if (many === '' || !(await areSame(first, folder))) return false
  if (many === undefined) return true
  return changed ? changed.size === 0 : areSame(many, folder)
}

async function areSame(text: string, folder: string): Promise<boolean> {
  if (text === '') return false
  const [fingerprint, ...names] = text.split('\n')
  const stamps: (FileStamp | null)[] = []
  for (const name of names) {
    stamps.push(stampNow(name === '.' ? folder : `${folder}/${name}`))
    if (stamps.length > FEW) await yieldIfBusy()
  }
  return fingerprintOf(stamps) === fingerprint
}

function fingerprintOf(stamps: readonly (FileStamp | null)[]): string | null {
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
