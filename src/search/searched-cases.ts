import { deserialize, serialize } from 'node:v8'
import {
  readSearchCache,
  readSearched,
  searchedPrint,
  writeSearchCache,
} from '../workspace/search-files.ts'
import { type CaseIndex, type CaseTexts, createCaseIndex } from './case-index.ts'
import type { CaseSummary } from './case-summary.ts'
import { GAP } from './phrases.ts'
import type { PackedPostings } from './postings.ts'
import type { CaseToSearch, Where } from './search-messages.ts'
import { type Place, placeOf, searchedLines } from './searched-lines.ts'
import { createTextCache } from './text-cache.ts'
import { folded } from './words.ts'

/** All cases with what the index has of them; kept from one start to the next. */
export interface SearchedCases {
  readonly index: CaseIndex
  /** Brings the index up to these; `all`: there are no others. */
  take(cases: readonly CaseToSearch[], gone: readonly string[], all: boolean): void
  ids(): Iterable<string>
  facts(id: string): CaseSummary | undefined
  /** The files of a case. */
  files(id: string): string[]
  /** All of them that is searched, folded, with a `GAP` between one and the next. Kept until the case changes. */
  text(id: string): string
  folder(id: string): string
  /** Whether enough has changed to be kept, or something went that must not be. */
  readonly isDue: boolean
  save(): void
}

interface Searched {
  print: number
  names: string
  facts: CaseSummary
}

/** Fewer changed cases are read again sooner than all are written. */
const WORTH_SAVING = 200
/** Of all files of a case together. */
const MAX_CASE_CHARACTERS = 4 * 1024 * 1024

export function createSearchedCases({ cases: root, cache }: Where): SearchedCases {
  const known = new Map<string, Searched>()
  const texts = createTextCache()
  let { index, prints } = readCache(cache)
  let changed = 0
  let hasLost = false
  const folder = (id: string) => `${root}/${id}`
  const filesIn = (names: string) => names.split('\n').filter((name) => /\.md$/i.test(name))

  function takeOne({ id, names, print, facts }: CaseToSearch): void {
    texts.remove(id)
    const before = known.get(id)?.print ?? prints.get(id) ?? 0
    const joined = names.join('\n')
    if (print !== 0 && print === before) {
      known.set(id, { print, names: joined, facts })
      return
    }
    const found = searchedPrint(folder(id), names) // before the texts: what changes meanwhile shows
    known.set(id, { print: found, names: joined, facts })
    index.put(id, textsOf(id, joined, facts))
    changed++
  }

  function textsOf(id: string, names: string, facts: CaseSummary): CaseTexts {
    const texts: Record<Place, string[]> = { case: [], notes: [], sessions: [], proof: [] }
    let room = MAX_CASE_CHARACTERS
    for (const name of filesIn(names)) {
      const text = readSearched(folder(id), name)?.slice(0, room) ?? ''
      room -= text.length
      const place = placeOf(name)
      for (const { text: line, from } of searchedLines(place, text)) {
        texts[place].push(line.slice(from))
      }
    }
    const { case: own, notes, sessions, proof } = texts
    return {
      title: facts.title,
      tags: `${facts.tags.join(' ')} ${facts.outcome ?? ''} ${id}`,
      ...{ case: own.join('\n'), notes: notes.join('\n') },
      ...{ sessions: sessions.join('\n'), proof: proof.join('\n') },
    }
  }

  function drop(id: string): void {
    texts.remove(id)
    known.delete(id)
    index.remove(id)
    hasLost = true
  }

  return {
    get index() {
      return index
    },
    take(cases, gone, all) {
      for (const each of cases) takeOne(each)
      for (const id of gone) drop(id)
      if (!all) return
      const present = new Set(cases.map(({ id }) => id))
      for (const id of [...known.keys(), ...prints.keys()]) if (!present.has(id)) drop(id)
      prints = new Map()
    },
    ids: () => known.keys(),
    facts: (id) => known.get(id)?.facts,
    files: (id) => filesIn(known.get(id)?.names ?? ''),
    text(id) {
      const kept = texts.get(id)
      const found = known.get(id)
      if (kept !== undefined || !found) return kept ?? ''
      const text = folded(Object.values(textsOf(id, found.names, found.facts)).join(GAP))
      texts.put(id, text)
      return text
    },
    folder,
    get isDue() {
      return hasLost || changed >= Math.min(WORTH_SAVING, known.size)
    },
    save() {
      changed = 0
      hasLost = false
      const kept: KeptSearch = { prints: new Map(), index: index.pack() }
      for (const [id, { print }] of known) kept.prints.set(id, print)
      writeSearchCache(cache.path, cache.title, serialize(kept))
    },
  }
}

interface KeptSearch {
  prints: Map<string, number>
  index: PackedPostings
}

/** What an earlier thread kept, or nothing: then all is read. */
function readCache({ path, title }: Where['cache']): {
  index: CaseIndex
  prints: Map<string, number>
} {
  const bytes = readSearchCache(path, title)
  if (bytes !== null) {
    try {
      const { index, prints }: KeptSearch = deserialize(bytes)
      return { index: createCaseIndex(index), prints }
    } catch {} // of a newer V8, or of another form than this program's
  }
  return { index: createCaseIndex(), prints: new Map() }
}
