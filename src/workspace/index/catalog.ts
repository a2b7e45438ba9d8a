/**
 * The index of cases: of each the stamps of its files and its row in lists, in memory; recently used cases whole. What
 * was published last is in casefile.db, and the index says which rows to write.
 */

import type { CaseContents } from '../../model/case-contents.ts'
import { type Reading, readingOf } from '../../model/changes.ts'
import type { TriageRow } from '../../model/triage-row.ts'
import { partsOfKey } from '../../state/record-rows.ts'
import type { CaseEntry } from '../case-entry.ts'
import { fileHashes, fileIn, isAtRest } from './case-rows.ts'
import { stampsOf } from './case-stamps.ts'
import { createListJson } from './list-json.ts'
import { complete, encodeListed, type Listed, listedOf } from './listed-case.ts'
import { type CaseLists, createCaseLists } from './lists.ts'
import {
  createLoadedCases,
  type Loaded,
  type LoadedCasesDeps,
  type Present,
} from './loaded-cases.ts'
import { createUnsavedRows, type RowsToWrite } from './unsaved-rows.ts'

export interface Catalog {
  lists: CaseLists
  entry(id: string): CaseEntry | undefined
  /** The same, or as it was stored last while a start has not looked at the case yet. */
  lastEntry(id: string): CaseEntry | undefined
  has(id: string): boolean
  /** Loads a case before it is needed, without a long pause if it has many files. */
  loadInParts(id: string): Promise<void>
  /** The last readable text of a session, or of a case.md beside a running one, by `<case id>/<file>`. */
  lastText(key: string): string | null
  /** The stamps of the case's files when they were read. */
  stamps(id: string): string | undefined
  /** The same, or as they were stored last while a start has not looked at the case yet. */
  lastStamps(id: string): string | undefined
  ids(): string[]
  size(): number
  /** The cases that name this one as their parent. */
  children(id: string): string[]
  /** Adds a case whose files are unchanged since an earlier service stored it. */
  adopt(id: string): void
  put(entry: CaseEntry): void
  /** Updates the stamps of a case whose contents have not changed. */
  refresh(entry: CaseEntry): void
  remove(id: string): void
  /** The whole case, newest session and proof last; undefined if unknown. */
  folder(id: string): CaseContents | undefined
  /** The JSON of `GET /cases/:id`; undefined if unknown. */
  json(id: string): string | undefined
  /** The row of a case in lists; undefined if unknown. */
  row(id: string): TriageRow | undefined
  /** The JSON array of all cases, newest first; the same object until something changes. */
  listJson(): Buffer
  /** Discards values computed from a case: call it when its frozen values, or whether a session of it runs, has changed. */
  invalidate(id: string): void
  /** What was published last of a case; null if it never was. */
  published(id: string): Reading | null
  /** What is to be published of a case; null if it is gone. */
  reading(id: string): Reading | null
  /** Call when this is published, before `unsavedRows`. */
  setPublished(id: string, reading: Reading | null): void
  /** A change of a memory file that is published with the next change of the case; its events do not name it. */
  setNotePublished(id: string, name: string, from: string, to: string): void
  /** Stored cases that a start has not found. */
  notFound(): string[]
  /** Cases that this start had to read; once that is stored, only those that wait for the service. */
  readAtStart(): string[]
  /** What is not in the database yet, of this case or of all. */
  unsavedRows(id?: string): RowsToWrite
  endStart(): void
}

export type CatalogDeps = LoadedCasesDeps

export function createCatalog(deps: CatalogDeps): Catalog {
  const { frozen, stored } = deps
  const cases = createLoadedCases(deps)
  const known = new Map<string, Listed>()
  /** Stored cases that a start has not looked at; loaded on first use. */
  let notSeen: Map<string, { stamps: string; listed: string }> | null = null
  let readAtStart: Set<string> | null = new Set()
  const lists = createCaseLists({ ids: () => known.keys(), row })
  const list = createListJson({ ids: () => lists.newest({}, null, null), kept, stored })
  const unsaved = createUnsavedRows(
    cases,
    (id, entry) => {
      row(id)
      if (isDone(entry)) readAtStart?.delete(id)
      return { stamps: stampsToStore(entry), listed: encodeListed(known.get(id)!) }
    },
    lastText,
  )

  const isDone = (entry: CaseEntry) => frozen(entry.id) === undefined && isAtRest(entry)

  function stampsToStore(entry: CaseEntry): string {
    return isDone(entry) ? known.get(entry.id)!.stamps : ''
  }

  function unseen() {
    const rows = notSeen ? [] : (stored?.listed() ?? [])
    notSeen ??= new Map(
      rows.map(({ id, stamps, listed }) => [
        id,
        { stamps: stored?.isOtherFormat ? '' : stamps, listed },
      ]),
    )
    return notSeen
  }

  function load(id: string): Loaded | undefined {
    const isSeen = known.has(id)
    return isSeen || unseen().has(id) ? cases.load(id, isSeen) : cases.inMemory(id)
  }

  function present(id: string): Present | undefined {
    const loaded = known.has(id) ? load(id) : undefined
    return loaded?.entry ? (loaded as Present) : undefined
  }

  function folder(id: string): CaseContents | undefined {
    const loaded = present(id)
    return loaded && cases.folder(loaded)
  }

  function row(id: string): TriageRow | undefined {
    const listed = known.get(id)
    return listed && (listed.row ?? complete(listed, cases, present(id)!))
  }

  function lastText(id: string, file: string): string | null {
    const loaded = load(id)
    const read = loaded?.entry && fileIn(loaded.entry, file)
    const fresh = read && 'text' in read ? read.text : undefined
    return fresh ?? (loaded && stored?.text(id, file)) ?? null
  }

  /** The JSON of a case whose row is outdated. */
  function kept(id: string): string | undefined {
    return cases.kept.has(id) && known.has(id) ? cases.json(present(id)!) : undefined
  }

  function invalidateLists(id: string): void {
    lists.invalidate(id)
    list.invalidate()
  }

  /** Sets what is known of a case; its row in lists is made when it is asked for. */
  function replace(entry: CaseEntry, isUnpublished: boolean): void {
    const { id } = entry
    const before = load(id)
    const loaded: Loaded = {
      entry,
      stored: before?.stored ?? null,
      published: before?.published ?? null,
      isUnpublished: isUnpublished || before?.isUnpublished === true,
      contents: null,
      json: null,
    }
    if (isUnpublished || cases.kept.has(id)) cases.keep(id, loaded)
    else cases.use(id, loaded)
    if (loaded.isUnpublished) unsaved.delete(id)
    else unsaved.add(id)
    known.set(id, listedOf(entry))
    unseen().delete(id)
    readAtStart?.add(id)
    invalidateLists(id)
  }

  return {
    lists,
    entry: (id) => present(id)?.entry,
    lastEntry: (id) => load(id)?.entry ?? undefined,
    has: (id) => known.has(id),
    loadInParts: (id) => cases.loadInParts(id, () => known.has(id)),
    lastText: (key) => lastText(...partsOfKey(key)),
    stamps: (id) => known.get(id)?.stamps,
    lastStamps: (id) => known.get(id)?.stamps ?? unseen().get(id)?.stamps,
    ids: () => [...known.keys()],
    size: () => known.size,
    children: (id) => [...known].flatMap(([each, { parent }]) => (parent === id ? [each] : [])),
    adopt(id) {
      const found = unseen().get(id)
      if (!found) return
      known.set(id, { stamps: found.stamps, ...JSON.parse(found.listed) })
      unseen().delete(id)
      invalidateLists(id)
    },
    put: (entry) => replace(entry, true),
    refresh(entry) {
      const listed = known.get(entry.id)
      if (!listed) return replace(entry, false)
      const loaded = load(entry.id)!
      Object.assign(loaded, { entry, contents: null, json: null } satisfies Partial<typeof loaded>)
      listed.stamps = stampsOf(entry)
      if (!loaded.isUnpublished) unsaved.restamp(entry.id, stampsToStore(entry))
    },
    remove(id) {
      const before = load(id)
      if (!before) return
      cases.keep(id, { ...before, entry: null, isUnpublished: true, contents: null, json: null })
      known.delete(id)
      unseen().delete(id)
      unsaved.delete(id)
      invalidateLists(id)
    },
    folder,
    json(id) {
      const loaded = known.has(id) ? cases.inMemory(id) : undefined
      if (loaded) return cases.json(loaded as Present)
      return known.has(id) ? stored?.json(id) : undefined
    },
    row,
    listJson: list.bytes,
    invalidate(id) {
      const loaded = present(id)
      if (!loaded) return
      Object.assign(loaded, { contents: null, json: null } satisfies Partial<typeof loaded>)
      known.get(id)!.row = null
      cases.keep(id, loaded)
      if (!loaded.isUnpublished) unsaved.add(id)
      invalidateLists(id)
    },
    published: (id) => load(id)?.published ?? null,
    reading(id) {
      const loaded = present(id)
      if (!loaded) return null
      return readingOf(cases.folder(loaded), fileHashes(loaded.entry), loaded.published)
    },
    setPublished(id, published) {
      const loaded = load(id)
      if (!loaded) return
      Object.assign(loaded, { published, isUnpublished: false })
      cases.keep(id, loaded)
      unsaved.add(id)
    },
    setNotePublished(id, name, from, to) {
      const loaded = load(id)
      const published = loaded?.published
      if (!published || (published.notes.get(name) ?? '') !== from) return
      loaded.published = { ...published, notes: new Map(published.notes).set(name, to) }
    },
    notFound: () => [...unseen().keys()],
    readAtStart: () => [...(readAtStart ?? [])],
    unsavedRows: unsaved.take,
    endStart() {
      readAtStart = null
    },
  }
}
