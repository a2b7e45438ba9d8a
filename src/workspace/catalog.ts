/** The index of cases: in memory the stamps of all files, and the values of the cases that were used lately. */

import { LRUCache } from 'lru-cache'
import type { Baseline } from '../model/baseline.ts'
import type { CaseFolder } from '../model/case-folder.ts'
import { caseJson } from '../model/case-json.ts'
import { type TriageRow, triageRow } from '../model/triage-row.ts'
import type { CaseLists } from '../state/case-lists.ts'
import type { KnownCase } from '../state/cases.ts'
import type { CaseEntry } from './case-entry.ts'
import { folderOf } from './case-folder-of.ts'
import { type CaseStamps, shared, stampsOf } from './case-stamps.ts'
import { decodeEntry, isReproducible } from './entry-json.ts'
import { createListJson } from './list-json.ts'
import { createParentIndex } from './parent-index.ts'
import type { StoredCases } from './stored-cases.ts'

/**
 * The index of cases: what their files say, so that a GET reads no file that has not changed. Of each case memory has
 * what tells whether its files have changed; all else is in the database, and in memory only while it is in use.
 * It is derived: thrown away, it is read again from the files.
 */
export interface Catalog {
  entry(id: string): CaseEntry | undefined
  has(id: string): boolean
  /** The stamps of its files when they were read. The same object until they change. */
  known(id: string): CaseStamps | undefined
  ids(): string[]
  size(): number
  /** The cases that name this one as their parent. */
  children(id: string): string[]
  put(entry: CaseEntry): void
  /** Of a case whose files have other stamps, and say the same. */
  refresh(entry: CaseEntry): void
  remove(id: string): CaseEntry | undefined
  /** All that is known of a case, the newest session and proof last; undefined when unknown. */
  folder(id: string): CaseFolder | undefined
  /** The case as `GET /cases/:id` gives it; undefined when unknown. */
  json(id: string): string | undefined
  /** What triage shows of it; undefined when unknown. */
  row(id: string): TriageRow | undefined
  /** The same as `json` of all cases, in no order. */
  allJson(): Iterable<{ id: string; json: string }>
  /** The JSON of all cases in one array, the newest first. The same object until something changes. */
  listJson(): Buffer
  /** Forgets what was computed from an entry, after a change of something that it was computed with. */
  touch(id: string): void
  /** A case whose files are as an earlier service stored them. */
  takeStored(known: KnownCase): void
  /** Whether the files of a case alone say all that is known of it, and nothing in it waits for an answer. */
  isReproducible(id: string): boolean
}

export interface CatalogDeps {
  /** Whether a session plans or works in this process. */
  isRunningHere(sessionId: string): boolean
  /** What counts of a case, whatever its files say. */
  pins(caseId: string): Baseline | undefined
  /** Where cases are that are not in use; without it all stay in memory. */
  stored?: StoredCases
  /** For `listJson`. */
  lists?: Pick<CaseLists, 'newestIds'>
}

/** The values of a case that is in use. */
interface Loaded {
  entry: CaseEntry
  folder: CaseFolder | null
  json: string | null
  row: TriageRow | null
}

/** So many cases are in memory, because they were used last. */
const RECENT = 300

const textDecoder = new TextDecoder()

export function createCatalog({ isRunningHere, pins, stored, lists }: CatalogDeps): Catalog {
  const slots = new Map<string, CaseStamps>()
  const families = createParentIndex()
  const recent = new LRUCache<string, Loaded>({ max: RECENT })
  /** Those whose values are not in the database, or not yet. */
  const unsaved = new Map<string, Loaded>()
  const list = createListJson({
    ids: () => lists?.newestIds() ?? [],
    json: jsonOf,
    stored: storedJson,
  })

  function loaded(id: string): Loaded | undefined {
    const known = unsaved.get(id) ?? recent.get(id)
    if (known) return known
    const values = slots.has(id) ? stored?.values(id) : undefined
    if (!values) return undefined
    const entry = decodeEntry(values.entry, JSON.parse(values.json).description)
    const made = fresh(entry)
    recent.set(id, made)
    return made
  }

  function folderIn(each: Loaded): CaseFolder {
    each.folder ??= folderOf(each.entry, isRunningHere, pins(each.entry.id))
    return each.folder
  }

  function jsonIn(each: Loaded): string {
    each.json ??= JSON.stringify(caseJson(folderIn(each), each.entry.file.mtimeMs))
    return each.json
  }

  function rowIn(each: Loaded): TriageRow {
    each.row ??= triageRow(folderIn(each), caseJson(folderIn(each), each.entry.file.mtimeMs))
    return each.row
  }

  function jsonOf(id: string): string | undefined {
    const known = unsaved.get(id) ?? recent.peek(id)
    if (known) return jsonIn(known)
    return slots.has(id) ? stored?.json(id) : undefined
  }

  function rowOf(id: string): TriageRow | undefined {
    const known = unsaved.get(id) ?? recent.peek(id)
    if (known) return rowIn(known)
    const summary = slots.has(id) ? stored?.summary(id) : undefined
    return summary === undefined ? undefined : JSON.parse(summary)
  }

  /** Of those cases whose values are in the database. */
  function* storedJson(): Iterable<{ id: string; json: Uint8Array }> {
    for (const row of stored?.allJson() ?? [])
      if (slots.has(row.id) && !unsaved.has(row.id)) yield row
  }

  function* allJson(): Iterable<{ id: string; json: string }> {
    for (const [id, each] of unsaved) yield { id, json: jsonIn(each) }
    for (const { id, json } of storedJson()) yield { id, json: textDecoder.decode(json) }
  }

  /** From now on these are its values. */
  function keep(id: string, each: Loaded): void {
    slots.set(id, stampsOf(each.entry))
    unsaved.set(id, each)
    recent.delete(id) // a start puts thousands
    stored?.save(id, {
      created_at: each.entry.file.value.created_at,
      summary: () => rowIn(each),
      row: () => ({
        entry: each.entry,
        stamps: slots.get(id) ?? null,
        json: jsonIn(each),
        isPinned: pins(id) !== undefined,
      }),
      onSaved(isInUse) {
        if (unsaved.get(id) !== each) return
        unsaved.delete(id)
        if (isInUse) recent.set(id, each)
      },
    })
  }

  function touch(id: string): void {
    const known = loaded(id)
    if (known) keep(id, fresh(known.entry))
    list.changed(id)
  }

  function remove(id: string): CaseEntry | undefined {
    const known = loaded(id)
    if (!known) return undefined
    slots.delete(id)
    unsaved.delete(id)
    recent.delete(id)
    families.put(id, null)
    stored?.remove(id)
    list.changed(id)
    return known.entry
  }

  return {
    entry: (id) => loaded(id)?.entry,
    has: (id) => slots.has(id),
    known: (id) => slots.get(id),
    ids: () => [...slots.keys()],
    size: () => slots.size,
    children: families.children,
    put(entry) {
      const { id } = entry
      keep(id, fresh(entry))
      const { parent } = entry.file.value
      families.put(id, parent === null ? null : copyOf(parent))
      list.changed(id)
    },
    refresh(entry) {
      const known = loaded(entry.id) ?? fresh(entry)
      keep(entry.id, { ...known, entry })
    },
    remove,
    folder(id) {
      const known = loaded(id)
      return known && folderIn(known)
    },
    json: jsonOf,
    row: rowOf,
    allJson,
    listJson: list.bytes,
    touch,
    takeStored({ id, parent, names, print }) {
      slots.set(id, { names: shared(names), print })
      families.put(id, parent)
      list.changed(id)
    },
    isReproducible(id) {
      const known = loaded(id)
      return known !== undefined && pins(id) === undefined && isReproducible(known.entry)
    },
  }
}

/** A part of a text keeps the whole text in memory; a copy of it does not. */
function copyOf(part: string): string {
  return Buffer.from(part).toString()
}

function fresh(entry: CaseEntry): Loaded {
  return {
    entry,
    folder: null,
    json: null,
    row: null,
  }
}
