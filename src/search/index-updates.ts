import { yieldIfBusy } from '../files/yielding.ts'
import { AppError } from '../model/app-error.ts'
import type { FilteredField } from '../model/case-fields.ts'
import { fieldColumns } from '../state/case-filters.ts'
import type { IndexedCase, SearchedWords, SearchTables } from '../state/search-tables.ts'
import { listCaseFiles, readSearched } from './case-files.ts'
import type { CaseSummary } from './query.ts'
import { fieldOf, searchedLines } from './searched-lines.ts'
import { BREAK, indexedText } from './words.ts'

/**
 * Keeps the search index up to date with the case files: in the background after changes pause, and before each
 * search.
 */
export interface IndexUpdates {
  /** Returns the number of a case in the index. */
  number(id: string): number | undefined
  /** Returns the case with this number; undefined if it was deleted. */
  id(number: number): string | undefined
  /** One more than the highest number. */
  size(): number
  /** Schedules a comparison of all cases with the index, shortly after the start. */
  begin(): void
  /** Call it when files of a case have changed. */
  change(id: string): void
  remove(id: string): void
  /** Resolves when the index has all changes, or when the database cannot store them now. */
  upToDate(): Promise<void>
  /** Whether `upToDate` would be fast. */
  isReady(): boolean
  close(): Promise<void>
}

export interface UpdateDeps {
  tables: SearchTables
  /** The ids of all cases. */
  ids(): string[]
  summaryOf(id: string): CaseSummary | undefined
  folder(id: string): string
  log(line: string): void
}

/** A service that has just started serves requests first. */
const BEGIN_MS = 1000
/** Sessions write often, so their cases are indexed when they pause or when somebody searches. */
const QUIET_MS = 4000
/** For all files of a case together. */
const MAX_CASE_CHARACTERS = 4 * 1024 * 1024
/** A larger transaction would block too long. */
const BATCH_CHARACTERS = 100_000
const MAX_CHANGED_WHEN_READY = 50
const NO_TEXTS = { description: '', notes: '', sessions: '', proof: '' }

export function createIndexUpdates(deps: UpdateDeps): IndexUpdates {
  const { tables, summaryOf, folder, log } = deps
  const numbers = new Map<string, number>()
  const ids: (string | undefined)[] = []
  /** `maybe`: at the start, when only the stamp decides; `yes`: files have changed. */
  const changed = new Map<string, 'maybe' | 'yes'>()
  /** Writes for the next transaction, by case. */
  const waiting = new Map<string, () => void>()
  let waitingCharacters = 0
  let isLoaded = false
  let isClosed = false
  let running: Promise<void> | null = null
  let timer: NodeJS.Timeout | undefined

  function schedule(ms: number): void {
    clearTimeout(timer)
    if (isClosed) return
    timer = setTimeout(() => {
      upToDate().catch((error: unknown) => log(`the search index could not be updated: ${error}`))
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
    for (const [id, how] of changed) {
      if (isClosed || tables.isFailing()) break
      changed.delete(id)
      try {
        await updateCase(id, how === 'yes')
      } catch (error) {
        if (error instanceof AppError) throw error // a database error stops the update
        log(`case ${id} could not be indexed for search: ${error}`)
      }
      await yieldIfBusy()
    }
    await writeWaiting()
  }

  function load(): void {
    for (const { number, id } of tables.cases()) {
      if (numbers.has(id)) tables.remove(number)
      else setNumber(id, number)
    }
    const present = new Set(deps.ids())
    for (const id of [...numbers.keys()]) if (!present.has(id)) remove(id)
    for (const id of present) changed.set(id, 'maybe')
    isLoaded = true
  }

  /** Writes many cases in one transaction and waits until it is stored. */
  async function writeWaiting(): Promise<void> {
    for (const put of waiting.values()) put()
    waiting.clear()
    waitingCharacters = 0
    await tables.flushed()
  }

  async function updateCase(id: string, hasChanged: boolean): Promise<void> {
    if (waiting.has(id)) await writeWaiting()
    const number = numbers.get(id)
    const before = number === undefined ? undefined : tables.indexed(number)
    const { names, stamp } = listCaseFiles(folder(id)) // before the texts, so that later changes show in the stamp
    const isAsBefore = before !== undefined && stamp !== '' && before.stamp === stamp
    if (isAsBefore && !hasChanged) return
    const texts = isAsBefore ? null : await readTexts(folder(id), names)
    const summary = summaryOf(id)
    if (!summary) {
      remove(id)
      return
    }
    const { title, outcome, tags, updated_at } = summary
    const columns = Object.entries(fieldColumns(summary)).map(([name, value]) => [
      name,
      value ?? '',
    ])
    const indexed: IndexedCase = {
      id,
      stamp,
      names: names.join('\n'),
      ...(Object.fromEntries(columns) as Record<FilteredField, string>),
      updated_at,
    }
    const known = number === undefined ? undefined : tables.words(number)
    const words: SearchedWords = {
      title: indexedText(title),
      tags: indexedText(`${tags.join(' ')} ${outcome ?? ''} ${id}`),
      ...(texts ?? known ?? NO_TEXTS),
    }
    const hasSameWords = known !== undefined && isSame(known, words)
    if (hasSameWords && before && isSame(before, indexed)) return
    waiting.set(id, () => {
      if (!summaryOf(id)) return // deleted since
      const current = numbers.get(id)
      const hasThem = hasSameWords && current === number
      tables.put(current ?? setNumber(id, ids.length), indexed, hasThem ? null : words)
    })
    waitingCharacters += Object.values(words).join('').length
    if (waitingCharacters > BATCH_CHARACTERS) await writeWaiting()
  }

  async function readTexts(folder: string, names: readonly string[]) {
    const texts = { ...NO_TEXTS }
    let room = MAX_CASE_CHARACTERS
    for (const name of names) {
      const text = readSearched(folder, name)?.slice(0, room) ?? ''
      room -= text.length
      const field = fieldOf(name)
      const lines = [...searchedLines(field, text)].map(({ text, from }) => text.slice(from))
      await yieldIfBusy()
      const words = indexedText(lines.join('\n'))
      if (words !== '') texts[field] += texts[field] === '' ? words : BREAK + words
      await yieldIfBusy()
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
    begin: () => schedule(BEGIN_MS),
    change(id) {
      changed.set(id, 'yes')
      schedule(QUIET_MS)
    },
    remove(id) {
      changed.delete(id)
      if (isLoaded) remove(id)
      else schedule(0) // load() compares all cases
    },
    upToDate,
    isReady: () => isLoaded && changed.size < MAX_CHANGED_WHEN_READY,
    async close() {
      isClosed = true
      clearTimeout(timer)
      await running?.catch(() => {}) // its caller handles the error
    },
  }
}

function isSame<T extends object>(before: T, now: T): boolean {
  return Object.entries(now).every(([name, value]) => before[name as keyof T] === value)
}
