/** Lists and reads the files of a case that the search index covers. */

import { hash } from 'node:crypto'
import { type EntryKind, kindsIn, kindsNow } from '../files/folder-names.ts'
import { readNow, stampNow } from '../files/read-now.ts'
import { isConflictCopy } from '../model/conflict-copy.ts'
import { isNoteName } from '../model/memory-name.ts'
import { SESSION_FILE } from '../model/words.ts'
import { isSettled } from '../workspace/record.ts'

/** In a larger file only the beginning is searched. */
const MAX_SEARCHED_BYTES = 256 * 1024
const MAX_READ_BYTES = 16 * 1024 * 1024

export interface CaseFiles {
  /** Relative to the folder of the case. */
  names: string[]
  /**
   * Changes when one of the files changes. Empty if a file changed so recently that another change could leave the
   * same times.
   */
  stamp: string
}

export function listCaseFiles(folder: string): CaseFiles {
  const kinds = kindsNow(folder)
  if (!kinds || kinds === 'hidden') return { names: [], stamp: '' }
  const names = filesIn(kinds, (name) => name === 'case.md')
  for (const [part, isSearched] of PARTS) {
    if (kinds.get(part) !== 'folder') continue
    const inside = kindsIn(`${folder}/${part}`)
    if (!inside || inside === 'hidden') continue
    names.push(...filesIn(inside, isSearched).map((name) => `${part}/${name}`))
  }
  names.push(...filesIn(kinds, isNoteName))
  const stamps: string[] = []
  for (const name of names) {
    const stamp = stampNow(`${folder}/${name}`)
    if (!stamp || !isSettled(stamp)) return { names, stamp: '' }
    const { size, mtimeMs, ctimeMs, ino } = stamp
    stamps.push(`${name} ${size} ${mtimeMs} ${ctimeMs} ${ino}`)
  }
  return { names, stamp: hash('sha256', stamps.join('\n'), 'base64').slice(0, 22) }
}

const PARTS: [folder: string, isSearched: (name: string) => boolean][] = [
  ['sessions', (name) => SESSION_FILE.test(name)],
  ['proof', (name) => /\.md$/i.test(name) && !isConflictCopy(`proof/${name}`)],
]

function filesIn(kinds: Map<string, EntryKind>, isSearched: (name: string) => boolean): string[] {
  return [...kinds.keys()].filter((name) => kinds.get(name) === 'file' && isSearched(name)).sort()
}

/** Returns the searched text of a file; null if it does not exist or is not text. */
export function readSearched(folder: string, name: string): string | null {
  const read = readNow(`${folder}/${name}`, MAX_READ_BYTES, folder)
  if (!read.ok) return null
  const isWhole = read.bytes.length <= MAX_SEARCHED_BYTES
  try {
    const decoder = new TextDecoder('utf-8', { fatal: true })
    const bytes = read.bytes.subarray(0, MAX_SEARCHED_BYTES)
    const text = decoder.decode(bytes, { stream: !isWhole }) // a cut may split a character
    return text.includes('\0') ? null : text
  } catch (error) {
    if (error instanceof TypeError) return null
    throw error
  }
}
