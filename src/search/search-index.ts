import { yieldIfBusy } from '../files/yielding.ts'
import { AppError } from '../model/app-error.ts'
import { firstRow, type SearchTables } from '../state/search-tables.ts'
import type { Catalog } from '../workspace/index/catalog.ts'
import {
  columnOf,
  type IndexedCase,
  indexedCase,
  indexedLine,
  indexedText,
} from './indexed-text.ts'

/**
 * Keeps the search index as the case files were last read: in the background after changes pause, and before each
 * search. The readers of the files give it the texts, so it opens none of them.
 */
export interface SearchIndex {
  /** Returns the number of a case in the index. */
  number(id: string): number | undefined
  /** Returns the case with this number; undefined if it was deleted. */
  id(number: number): string | undefined
  /** All cases have a number below this. */
  size(): number
  /** Starts to bring the index up to date, once a service that has just started has served its first requests. */
  begin(): void
  /** Call it with the text of each file that is read. `hash` is that of its bytes. */
  sawText(id: string, name: string, text: string, hash: string): void
  /** Call it when files of a case have changed, or the case was deleted. */
  onCaseChange(id: string): void
  /** Resolves when the index has all changes, or when the database cannot store them now. */
  upToDate(): Promise<void>
  /** Whether `upToDate` would be fast. */
  isReady(): boolean
  close(): Promise<void>
}

export interface IndexDeps {
  tables: SearchTables
  catalog: Pick<Catalog, 'ids' | 'has' | 'entry'>
  /** Reads a file whose text was not kept since it was read; null if that is not possible. */
  read(id: string, name: string): string | null
  log(line: string): void
}

/** Change these when `indexedText` returns something else for the same text. */
const COMPLETE = 'format 2, complete'
const BEHIND = 'format 2, behind'
const BEGIN_MS = 1000
/** Sessions write often, so their cases are indexed when they pause or when somebody searches. */
const QUIET_MS = 4000
/** A larger transaction would block too long. */
const BATCH_CHARACTERS = 100_000
/** What a row costs besides its text. */
const ROW_CHARACTERS = 100
/** Texts that wait to be indexed. Beyond this, files are read a second time. */
const MAX_WAITING_CHARACTERS = 48 * 1024 * 1024
const MAX_CHANGED_WHEN_READY = 50

export function createSearchIndex({ tables, catalog, read, log }: IndexDeps): SearchIndex {
  const numbers = new Map<string, number>()
  const ids: (string | undefined)[] = []
  /** With what is indexed beside the texts of a case; null if the case must be looked up. */
  const changed = new Map<string, IndexedCase | null>()
  /** Texts of changed files by case and name. */
  const texts = new Map<string, Map<string, { text: string; hash: string }>>()
  let waitingCharacters = 0
  const statusBefore = tables.status()
  /** Whether the database says that the index has all changes. */
  let isComplete = statusBefore === COMPLETE
  let hasBegun = false
  let isLoaded = false
  let isClosed = false
  let running: Promise<void> | null = null
  let timer: NodeJS.Timeout | undefined

  function schedule(ms: number): void {
    clearTimeout(timer)
    if (isClosed) return
    timer = setTimeout(() => void upToDate().catch(notUpdated), ms).unref()
  }

  function notUpdated(error: unknown): void {
    log(`the search index could not be updated: ${error}`)
  }

  async function upToDate(): Promise<void> {
    clearTimeout(timer)
    do {
      running ??= update().finally(() => {
        running = null
      })
      await running
    } while (changed.size > 0 && !isClosed && !tables.isFailing())
  }

  async function update(): Promise<void> {
    if (!isLoaded) load()
    let characters = 0
    /** Cases whose rows are not stored yet. */
    const written = new Set<string>()
    const store = async () => {
      await tables.flushed()
      written.clear()
      characters = 0
    }
    for (const id of changed.keys()) {
      if (isClosed || tables.isFailing()) break
      if (written.has(id)) await store()
      if (written.size > 0) await yieldIfBusy()
      const known = changed.get(id)
      changed.delete(id)
      try {
        for (const length of updateCase(id, known ?? caseOf(id))) {
          written.add(id)
          characters += length
          if (characters > BATCH_CHARACTERS) await store()
          await yieldIfBusy()
        }
      } catch (error) {
        if (error instanceof AppError) throw error // a database error stops the update
        log(`case ${id} could not be indexed for search: ${error}`)
      }
    }
    // in the transaction of the last rows
    if (changed.size === 0 && !isComplete) {
      tables.setStatus(COMPLETE)
      isComplete = true
    }
    await store()
  }

  function load(): void {
    isLoaded = true
    if (statusBefore !== COMPLETE && statusBefore !== BEHIND) {
      tables.clear()
      tables.setStatus(BEHIND)
    } else {
      for (const { number, id } of tables.cases()) setNumber(id, number)
    }
    for (const id of [...numbers.keys()]) if (!catalog.has(id)) remove(id)
    for (const id of catalog.ids())
      if (statusBefore !== COMPLETE || !numbers.has(id)) changed.set(id, changed.get(id) ?? null)
  }

  /** Tells the next start, before the rows of the changed cases are stored, in case this service is killed. */
  function setBehind(): void {
    if (!isComplete || !hasBegun) return
    tables.setStatus(BEHIND)
    isComplete = false
  }

  function markChanged(id: string, known: IndexedCase | null): void {
    changed.set(id, known)
    setBehind()
    if (hasBegun) schedule(QUIET_MS)
  }

  function caseOf(id: string): IndexedCase | null {
    const entry = catalog.entry(id)
    return entry ? indexedCase(entry) : null
  }

  /** Writes the changed files of a case one by one, and returns the length of each text. */
  function* updateCase(id: string, present: IndexedCase | null): Generator<number> {
    const seen = takeTexts(id)
    if (!present) return remove(id)
    const before = numbers.get(id)
    const stored = before === undefined ? [] : tables.files(before)
    const number = before ?? setNumber(id, ids.length)
    if (before === undefined) tables.putCase(number, id)
    const known = new Map(stored.map((file) => [file.name, file]))
    yield 0
    let nextRow = (stored.at(-1)?.row ?? firstRow(number) - 1) + 1
    for (const [name, hash] of present.files) {
      const before = known.get(name)
      known.delete(name)
      if (before?.hash === hash) {
        yield 0
        continue
      }
      const own = seen?.get(name)
      const text = indexedText(name, (own?.hash === hash ? own.text : read(id, name)) ?? '')
      const { title, tags } = present
      const isCase = name === 'case.md'
      if (before) tables.removeFile(before.row)
      tables.putFile(
        { row: before?.row ?? nextRow++, name, hash },
        { [columnOf(name)]: text, ...(isCase ? { tags } : {}) },
        isCase ? indexedLine(title) : null,
      )
      yield text.length + ROW_CHARACTERS
    }
    for (const { row } of known.values()) {
      tables.removeFile(row)
      yield ROW_CHARACTERS
    }
  }

  function takeTexts(id: string) {
    const seen = texts.get(id)
    texts.delete(id)
    for (const { text } of seen?.values() ?? []) waitingCharacters -= text.length
    return seen
  }

  function setNumber(id: string, number: number): number {
    numbers.set(id, number)
    ids[number] = id
    return number
  }

  function remove(id: string): void {
    const number = numbers.get(id)
    if (number === undefined) return
    numbers.delete(id)
    ids[number] = undefined
    tables.removeCase(number)
  }

  return {
    number: (id) => numbers.get(id),
    id: (number) => ids[number],
    size: () => ids.length,
    begin() {
      hasBegun = true
      if (changed.size > 0) setBehind()
      schedule(BEGIN_MS)
    },
    sawText(id, name, text, hash) {
      if (waitingCharacters + text.length > MAX_WAITING_CHARACTERS) return
      const seen = texts.get(id) ?? new Map()
      waitingCharacters += text.length - (seen.get(name)?.text.length ?? 0)
      texts.set(id, seen.set(name, { text, hash }))
      markChanged(id, null)
    },
    onCaseChange(id) {
      if (isLoaded && !catalog.has(id)) remove(id)
      markChanged(id, caseOf(id))
    },
    upToDate,
    isReady: () => isLoaded && changed.size < MAX_CHANGED_WHEN_READY,
    async close() {
      const canLoad = isLoaded || (hasBegun && statusBefore === COMPLETE)
      // a damaged database stops no service from ending
      if (canLoad && changed.size < MAX_CHANGED_WHEN_READY) await upToDate().catch(notUpdated)
      isClosed = true
      clearTimeout(timer)
      await running?.catch(() => {}) // its caller handles the error
    },
  }
}
