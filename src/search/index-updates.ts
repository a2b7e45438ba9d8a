import { setImmediate } from 'node:timers/promises'
import type { SearchedWords, SearchTables } from '../state/search-tables.ts'
import { listCaseFiles, readSearched } from './case-files.ts'
import type { CaseSummary } from './query.ts'
import { placeOf, searchedLines } from './searched-lines.ts'
import type { Vocabulary } from './typos.ts'
import { BREAK, indexedText } from './words.ts'

/** Brings the index up to the files: in the background once nothing changes, and before each search. */
export interface IndexUpdates {
  /** The number of a case in the index. */
  number(id: string): number | undefined
  /** The case of a number; undefined when it is gone. */
  id(number: number): string | undefined
  /** All numbers are below this. */
  size(): number
  numbers(): Iterable<number>
  /** Compares all cases with the index, which some time after the start happens unasked. */
  begin(): void
  /** Files of a case have changed. */
  change(id: string): void
  remove(id: string): void
  /** Resolves when the index has all changes; also when the disk does not take them now. */
  upToDate(): Promise<void>
  /** Whether `upToDate` takes no time to speak of. */
  isReady(): boolean
  close(): Promise<void>
}

export interface UpdateDeps {
  tables: SearchTables
  vocabulary: Pick<Vocabulary, 'add'>
  /** All cases. */
  ids(): string[]
  facts(id: string): CaseSummary | undefined
  folder(id: string): string
  log(line: string): void
}

/** A service that has just started has other things to do. */
const BEGIN_MS = 1000
/** Sessions write every few moments: their cases are indexed when they pause, or when somebody searches. */
const QUIET_MS = 4000
const SLICE_MS = 8
/** Of all files of a case together. */
const MAX_CASE_CHARACTERS = 4 * 1024 * 1024
const FEW = 50

export function createIndexUpdates(deps: UpdateDeps): IndexUpdates {
  const { tables, vocabulary, facts, folder, log } = deps
  const numbers = new Map<string, number>()
  const ids: (string | undefined)[] = []
  const changed = new Set<string>()
  let isLoaded = false
  let isClosed = false
  let running: Promise<void> | null = null
  let timer: NodeJS.Timeout | undefined
  let sliceBegan = 0

  function schedule(ms: number): void {
    clearTimeout(timer)
    if (isClosed) return
    timer = setTimeout(() => {
      upToDate().catch((error: unknown) => log(`the search index is not up to date: ${error}`))
    }, ms).unref()
  }

  async function upToDate(): Promise<void> {
    clearTimeout(timer)
    do {
      running ??= update().finally(() => {
        running = null
      })
      await running
    } while (changed.size > 0 && !isClosed && !tables.isFailing())
    await tables.flushed()
  }

  async function update(): Promise<void> {
    if (!isLoaded) load()
    sliceBegan = performance.now()
    for (const id of changed) {
      if (isClosed || tables.isFailing()) break
      changed.delete(id)
      await updateCase(id)
      await pause()
    }
  }

  function load(): void {
    for (const { number, id } of tables.cases()) {
      if (numbers.has(id)) tables.remove(number)
      else setNumber(id, number)
    }
    const present = new Set(deps.ids())
    for (const id of [...numbers.keys()]) if (!present.has(id)) remove(id)
    for (const id of present) changed.add(id)
    isLoaded = true
  }

  /** One slice is one transaction: it is on the disk before the next begins. */
  async function pause(): Promise<void> {
    if (performance.now() - sliceBegan < SLICE_MS) return
    await setImmediate()
    await tables.flushed()
    sliceBegan = performance.now()
  }

  async function updateCase(id: string): Promise<void> {
    const number = numbers.get(id)
    const before = number === undefined ? undefined : tables.indexed(number)
    const { names, stamp } = listCaseFiles(folder(id)) // before the texts: what changes meanwhile shows
    if (before && stamp !== '' && before.stamp === stamp) return
    const texts = await readTexts(folder(id), names)
    const summary = facts(id)
    if (!summary) {
      remove(id)
      return
    }
    const words: SearchedWords = {
      title: indexedText(summary.title),
      tags: indexedText(`${summary.tags.join(' ')} ${summary.outcome ?? ''} ${id}`),
      ...texts,
    }
    const known = number === undefined ? undefined : tables.words(number)
    const isSame = known !== undefined && isSameWords(known, words)
    const indexed = { stamp, names: names.join('\n') }
    if (isSame && before?.stamp === stamp && before.names === indexed.names) return
    tables.put(number ?? setNumber(id, ids.length), id, indexed, isSame ? null : words)
    if (!isSame) vocabulary.add(new Set(Object.values(words).join(' ').split(' ')))
  }

  async function readTexts(folder: string, names: readonly string[]) {
    const texts = { description: '', notes: '', sessions: '', proof: '' }
    let room = MAX_CASE_CHARACTERS
    for (const name of names) {
      const text = readSearched(folder, name)?.slice(0, room) ?? ''
      room -= text.length
      const place = placeOf(name)
      const lines = [...searchedLines(place, text)].map(({ text, from }) => text.slice(from))
      const words = indexedText(lines.join('\n'))
      if (words !== '') texts[place] += texts[place] === '' ? words : BREAK + words
      await pause()
    }
    return texts
  }

  function setNumber(id: string, number: number): number {
    while (ids.length < number) ids.push(undefined)
    numbers.set(id, number)
    ids[number] = id
    return number
  }

  function remove(id: string): void {
    const number = numbers.get(id)
    if (number === undefined) return
    numbers.delete(id)
    ids[number] = undefined
    tables.remove(number)
  }

  return {
    number: (id) => numbers.get(id),
    id: (number) => ids[number],
    size: () => ids.length,
    numbers: () => numbers.values(),
    begin: () => schedule(BEGIN_MS),
    change(id) {
      changed.add(id)
      schedule(QUIET_MS)
    },
    remove(id) {
      changed.delete(id)
      if (isLoaded) remove(id)
      else schedule(0) // then all cases are compared
    },
    upToDate,
    isReady: () => isLoaded && changed.size < FEW,
    async close() {
      isClosed = true
      clearTimeout(timer)
      await running?.catch(() => {}) // whoever asked for it was told
    },
  }
}

function isSameWords(a: SearchedWords, b: SearchedWords): boolean {
  return Object.entries(b).every(([column, words]) => a[column as keyof SearchedWords] === words)
}
