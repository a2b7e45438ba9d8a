import {
  readSearchCache,
  readSearched,
  searchedPrint,
  writeSearchCache,
} from '../workspace/search-files.ts'
import { type CaseIndex, type CaseTexts, createCaseIndex } from './case-index.ts'
import type { CaseSummary } from './case-summary.ts'
import type { CaseToSearch, Where } from './search-messages.ts'
import { type Place, placeOf, searchedLines } from './searched-lines.ts'

/** All cases with what the index has of them; kept from one start to the next. */
export interface SearchedCases {
  readonly index: CaseIndex
  /** Brings the index up to these; `all`: there are no others. */
  take(cases: readonly CaseToSearch[], gone: readonly string[], all: boolean): void
  ids(): Iterable<string>
  facts(id: string): CaseSummary | undefined
  /** The files of a case. */
  files(id: string): string[]
  folder(id: string): string
  /** Whether enough has changed to be kept, or something went that must not be. */
  readonly isDue: boolean
  save(): Promise<void>
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
  let { index, prints } = readCache(cache)
  let changed = 0
  let hasLost = false
  const folder = (id: string) => `${root}/${id}`
  const filesIn = (names: string) => names.split(',').filter((name) => name.endsWith('.md'))

  function takeOne({ id, names, print, facts }: CaseToSearch): void {
    const before = known.get(id)?.print ?? prints.get(id) ?? 0
    const joined = names.join(',')
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
    folder,
    get isDue() {
      return hasLost || changed >= Math.min(WORTH_SAVING, known.size)
    },
    async save() {
      await index.clean()
      changed = 0
      hasLost = false
      const kept = [...known].map(([id, { print }]) => [id, print])
      const text = `${JSON.stringify(kept)}\n${JSON.stringify(index.toJSON())}`
      writeSearchCache(cache.path, cache.title, text)
    },
  }
}

/** What an earlier thread kept, or nothing: then all is read. */
function readCache({ path, title }: Where['cache']): {
  index: CaseIndex
  prints: Map<string, number>
} {
  const text = readSearchCache(path, title)
  if (text !== null) {
    const end = text.indexOf('\n')
    try {
      const prints = new Map<string, number>(JSON.parse(text.slice(0, end)))
      return { index: createCaseIndex(text.slice(end + 1)), prints }
    } catch {} // of another form than this program's
  }
  return { index: createCaseIndex(), prints: new Map() }
}
