/** The index of cases: stamps of all files, and the values of recently used cases, in memory. */

import { LRUCache } from 'lru-cache'
import type { Baseline } from '../model/baseline.ts'
import type { CaseFolder } from '../model/case-folder.ts'
import { caseJson } from '../model/case-json.ts'
import { finishedRuns } from '../model/finished-runs.ts'
import { type TriageRow, triageRow } from '../model/triage-row.ts'
import type { CaseLists } from '../state/case-lists.ts'
import type { KnownCase } from '../state/cases.ts'
import { buildCaseFolder } from './build-case-folder.ts'
import type { CaseEntry } from './case-entry.ts'
import { type CaseStamps, shared, stampsOf } from './case-stamps.ts'
import { decodeEntry, isReproducible } from './entry-json.ts'
import { createListJson } from './list-json.ts'
import { createParentIndex } from './parent-index.ts'
import type { StoredCases } from './stored-cases.ts'

/**
 * The index of cases, so that a GET reads only changed files. For each case the stamps of its files are in memory.
 * All else is in the database, and in memory only while it is in use. The index is derived from the files and can be
 * rebuilt.
 */
export interface Catalog {
  entry(id: string): CaseEntry | undefined
  has(id: string): boolean
  /** The stamps of the case's files when they were read; the same object until they change. */
  stamps(id: string): CaseStamps | undefined
  ids(): string[]
  size(): number
  /** The cases that name this one as their parent. */
  children(id: string): string[]
  put(entry: CaseEntry): void
  /** Updates the stamps of a case whose contents have not changed. */
  refresh(entry: CaseEntry): void
  remove(id: string): CaseEntry | undefined
  /** The whole case, newest session and proof last; undefined if unknown. */
  folder(id: string): CaseFolder | undefined
  /** The JSON of `GET /cases/:id`; undefined if unknown. */
  json(id: string): string | undefined
  /** The row of a case in lists; undefined if unknown. */
  row(id: string): TriageRow | undefined
  /** The JSON of all cases, in no particular order. */
  allJson(): Iterable<{ id: string; json: string }>
  /** The JSON array of all cases, newest first; the same object until something changes. */
  listJson(): Buffer
  /** Discards values computed from a case: call it when its baseline, or whether a session of it runs, has changed. */
  invalidate(id: string): void
  /** Adds a case whose files are unchanged since an earlier service stored it. */
  addStored(known: KnownCase): void
  /** Whether reading the files again would give the same case, and it has no baseline. */
  isReproducible(id: string): boolean
}

export interface CatalogDeps {
  /** Whether a session runs in this process. */
  isRunningHere(sessionId: string): boolean
  /** The baseline of a case. */
  baseline(caseId: string): Baseline | undefined
  /** Stores cases that are not in use; without it all stay in memory. */
  stored?: StoredCases
  /** For `listJson`. */
  lists?: Pick<CaseLists, 'newestIds'>
}

/** The values of a case in use. */
interface Loaded {
  entry: CaseEntry
  folder: CaseFolder | null
  json: string | null
  row: TriageRow | null
}

/** Number of recently used cases in memory. */
const MAX_RECENT = 300

const textDecoder = new TextDecoder()

export function createCatalog({ isRunningHere, baseline, stored, lists }: CatalogDeps): Catalog {
  const stampsById = new Map<string, CaseStamps>()
  const parentIndex = createParentIndex()
  const recent = new LRUCache<string, Loaded>({ max: MAX_RECENT })
  /** Cases whose values are not in the database yet. */
  const unsaved = new Map<string, Loaded>()
  const list = createListJson({
    ids: () => lists?.newestIds() ?? [],
    json: readJson,
    stored: storedJson,
  })

  function load(id: string): Loaded | undefined {
    const known = unsaved.get(id) ?? recent.get(id)
    if (known) return known
    const values = stampsById.has(id) ? stored?.values(id) : undefined
    if (!values) return undefined
    const entry = decodeEntry(values.entry, JSON.parse(values.json).description)
    const made = notComputed(entry)
    recent.set(id, made)
    return made
  }

  function computeFolder(each: Loaded): CaseFolder {
    each.folder ??= buildCaseFolder(each.entry, isRunningHere, baseline(each.entry.id))
    return each.folder
  }

  function computeJson(each: Loaded): string {
    each.json ??= JSON.stringify(caseJson(computeFolder(each), each.entry.file.mtimeMs))
    return each.json
  }

  function computeRow(each: Loaded): TriageRow {
    const folder = computeFolder(each)
    each.row ??= triageRow(folder, caseJson(folder, each.entry.file.mtimeMs))
    return each.row
  }

  function readJson(id: string): string | undefined {
    const known = unsaved.get(id) ?? recent.peek(id)
    if (known) return computeJson(known)
    return stampsById.has(id) ? stored?.json(id) : undefined
  }

  function readRow(id: string): TriageRow | undefined {
    const known = unsaved.get(id) ?? recent.peek(id)
    if (known) return computeRow(known)
    const summary = stampsById.has(id) ? stored?.summary(id) : undefined
    return summary === undefined ? undefined : JSON.parse(summary)
  }

  /** The JSON of cases whose values are in the database. */
  function* storedJson(): Iterable<{ id: string; json: Uint8Array }> {
    for (const row of stored?.allJson() ?? [])
      if (stampsById.has(row.id) && !unsaved.has(row.id)) yield row
  }

  function* allJson(): Iterable<{ id: string; json: string }> {
    for (const [id, each] of unsaved) yield { id, json: computeJson(each) }
    for (const { id, json } of storedJson()) yield { id, json: textDecoder.decode(json) }
  }

  /** Replaces the values of a case, and writes them to the database. */
  function replace(id: string, each: Loaded): void {
    stampsById.set(id, stampsOf(each.entry))
    unsaved.set(id, each)
    recent.delete(id) // `recent` is for cases in use; a start adds thousands
    stored?.save(id, {
      created_at: each.entry.file.value.created_at,
      summary: () => computeRow(each),
      runs: () => finishedRuns(computeFolder(each).sessions),
      row: () => ({
        entry: each.entry,
        stamps: stampsById.get(id) ?? null,
        json: computeJson(each),
        isPinned: baseline(id) !== undefined,
      }),
      onSaved(isInUse) {
        if (unsaved.get(id) !== each) return
        unsaved.delete(id)
        if (isInUse) recent.set(id, each)
      },
    })
  }

  function invalidate(id: string): void {
    const known = load(id)
    if (known) replace(id, notComputed(known.entry))
    list.changed(id)
  }

  function remove(id: string): CaseEntry | undefined {
    const known = load(id)
    if (!known) return undefined
    stampsById.delete(id)
    unsaved.delete(id)
    recent.delete(id)
    parentIndex.put(id, null)
    stored?.remove(id)
    list.changed(id)
    return known.entry
  }

  return {
    entry: (id) => load(id)?.entry,
    has: (id) => stampsById.has(id),
    stamps: (id) => stampsById.get(id),
    ids: () => [...stampsById.keys()],
    size: () => stampsById.size,
    children: parentIndex.children,
    put(entry) {
      const { id } = entry
      replace(id, notComputed(entry))
      const { parent } = entry.file.value
      parentIndex.put(id, parent === null ? null : copyString(parent))
      list.changed(id)
    },
    refresh(entry) {
      const known = load(entry.id) ?? notComputed(entry)
      replace(entry.id, { ...known, entry })
    },
    remove,
    folder(id) {
      const known = load(id)
      return known && computeFolder(known)
    },
    json: readJson,
    row: readRow,
    allJson,
    listJson: list.bytes,
    invalidate,
    addStored({ id, parent, names, print }) {
      stampsById.set(id, { names: shared(names), print })
      parentIndex.put(id, parent)
      list.changed(id)
    },
    isReproducible(id) {
      const known = load(id)
      return known !== undefined && baseline(id) === undefined && isReproducible(known.entry)
    },
  }
}

/** Copies the string, as a substring would keep the whole text in memory. */
function copyString(part: string): string {
  return Buffer.from(part).toString()
}

/** The values of a case before anything is computed from its entry. */
function notComputed(entry: CaseEntry): Loaded {
  return {
    entry,
    folder: null,
    json: null,
    row: null,
  }
}
