/** All cases in memory: summaries of all of them, and the files of those that were asked for lately. */

import { LRUCache } from 'lru-cache'
import type { Baseline } from '../model/baseline.ts'
import type { CaseFolder } from '../model/case-folder.ts'
import { caseJson } from '../model/case-json.ts'
import { type TriageRow, triageRow } from '../model/triage-row.ts'
import type { KnownCase } from '../state/cases.ts'
import type { CaseEntry } from './case-entry.ts'
import { folderOf } from './case-folder-of.ts'
import { type CaseStamps, shared, stampsOf } from './case-stamps.ts'
import { decodeEntry, isReproducible } from './entry-json.ts'
import { createListJson } from './list-json.ts'
import { createParentIndex } from './parent-index.ts'
import type { StoredCases } from './stored-cases.ts'

/** What lists show of a case. */
export interface Digest {
  readonly id: string
  readonly created_at: string
  /** The case as `GET /cases/:id` gives it. */
  readonly json: string
  readonly row: TriageRow
}

/**
 * The index of cases: what their files say, so that a GET reads no file that has not changed. Of each case memory has
 * what tells whether its files have changed; all else is in the database, and in memory only while it is in use.
 * It is derived: thrown away, it is read again from the files.
 */
export interface Catalog {
  entry(id: string): CaseEntry | undefined
  has(id: string): boolean
  /** What tells whether its files are as they were read. The same object until that is another. */
  known(id: string): CaseStamps | undefined
  ids(): string[]
  /** The same, the newest case first. */
  order(): readonly { id: string; created_at: string }[]
  size(): number
  /** The cases that name this one as their parent. */
  children(id: string): string[]
  put(entry: CaseEntry): void
  /** Of a case whose files have other stamps, and say the same. */
  refresh(entry: CaseEntry): void
  remove(id: string): CaseEntry | undefined
  /** All that is known of a case, the newest session and proof last; undefined when unknown. */
  folder(id: string): CaseFolder | undefined
  /** What lists show of a case; undefined when unknown. */
  digest(id: string): Digest | undefined
  /** The part of that which triage shows. */
  row(id: string): TriageRow | undefined
  /** What lists show of all cases, the newest first. */
  digests(): Digest[]
  /** The JSON of all cases in one array, the newest first. The same object until something changes. */
  listJson(): Buffer
  /** Forgets what was computed from an entry, after a change of something that it was computed with. */
  touch(id: string): void
  /** A case whose files are as an earlier service stored them. */
  takeStored(known: KnownCase): void
  /** Whether the files of a case alone say all that is known of it, and nothing in it waits for an answer. */
  isReproducible(id: string): boolean
  /** Grows with every change: what was computed from the catalog at another version is stale. */
  version(): number
}

export interface CatalogNeeds {
  /** Whether a session plans or works in this process. */
  isRunningHere(sessionId: string): boolean
  /** What counts of a case, whatever its files say. */
  pins(caseId: string): Baseline | undefined
  /** Where cases are that are not in use; without it all stay in memory. */
  stored?: StoredCases
}

interface Slot extends CaseStamps {
  id: string
  created_at: string
}

/** The values of a case that is in use. */
interface Loaded {
  entry: CaseEntry
  folder: CaseFolder | null
  digest: Digest | null
}

/** So many cases are in memory, because they were used last. */
const RECENT = 300

export function createCatalog({ isRunningHere, pins, stored }: CatalogNeeds): Catalog {
  const slots = new Map<string, Slot>()
  const families = createParentIndex()
  const recent = new LRUCache<string, Loaded>({ max: RECENT })
  /** Those whose values are not in the database, or not yet. */
  const unsaved = new Map<string, Loaded>()
  let version = 0
  let order: Slot[] | null = null
  const list = createListJson({
    ids: () => ordered().map(({ id }) => id),
    json: (id) => digest(id)?.json,
    stored: () => stored?.allJson().filter(({ id }) => slots.has(id) && !unsaved.has(id)) ?? [],
  })

  function loaded(id: string): Loaded | undefined {
    const known = unsaved.get(id) ?? recent.get(id)
    if (known) return known
    const values = slots.has(id) ? stored?.values(id) : undefined
    if (!values) return undefined
    const entry = decodeEntry(values.entry, JSON.parse(values.json).description)
    const made: Loaded = { entry, folder: null, digest: null }
    recent.set(id, made)
    return made
  }

  function folderIn(each: Loaded): CaseFolder {
    each.folder ??= folderOf(each.entry, isRunningHere, pins(each.entry.id))
    return each.folder
  }

  function digestIn(each: Loaded): Digest {
    if (each.digest) return each.digest
    const { entry } = each
    const folder = folderIn(each)
    const value = caseJson(folder, entry.file.mtimeMs)
    const { id, created_at } = value
    const json = JSON.stringify(value)
    let row: TriageRow | null = null
    each.digest = {
      id,
      created_at,
      json,
      // not every request shows it, and a start has thousands
      get row() {
        row ??= triageRow(folder, value)
        return row
      },
    }
    return each.digest
  }

  function digest(id: string): Digest | undefined {
    const known = unsaved.get(id) ?? recent.peek(id)
    if (known) return digestIn(known)
    const slot = slots.get(id)
    const shown = slot && stored?.shown(id)
    if (!shown) return undefined
    const { json, summary } = shown
    return { id, created_at: slot.created_at, json, row: JSON.parse(summary) }
  }

  function row(id: string): TriageRow | undefined {
    const known = unsaved.get(id) ?? recent.peek(id)
    if (known) return digestIn(known).row
    const summary = slots.has(id) ? stored?.summary(id) : undefined
    return summary === undefined ? undefined : JSON.parse(summary)
  }

  /** From now on these are its values. */
  function keep(id: string, each: Loaded): void {
    const created_at = copyOf(each.entry.file.value.created_at)
    const before = slots.get(id)
    if (before?.created_at !== created_at) order = null
    slots.set(id, { id, created_at, ...stampsOf(each.entry) })
    unsaved.set(id, each)
    recent.delete(id) // a start puts thousands
    stored?.save(id, {
      row() {
        const { json, row } = digestIn(each)
        const isPinned = pins(id) !== undefined
        return { entry: each.entry, stamps: slots.get(id) ?? null, json, summary: row, isPinned }
      },
      onSaved(isInUse) {
        if (unsaved.get(id) !== each) return
        unsaved.delete(id)
        if (isInUse) recent.set(id, each)
      },
    })
  }

  function changed(id: string): void {
    version++
    list.changed(id)
  }

  function touch(id: string): void {
    const known = loaded(id)
    if (known) keep(id, { entry: known.entry, folder: null, digest: null })
    changed(id)
  }

  function remove(id: string): CaseEntry | undefined {
    const known = loaded(id)
    if (!known) return undefined
    slots.delete(id)
    unsaved.delete(id)
    recent.delete(id)
    families.put(id, null)
    order = null
    stored?.remove(id)
    changed(id)
    return known.entry
  }

  function ordered(): readonly Slot[] {
    order ??= [...slots.values()].sort(newestFirst)
    return order
  }

  function digests(): Digest[] {
    const summaries = new Map(stored?.summaries().map(({ id, summary }) => [id, summary]))
    return ordered().flatMap(({ id, created_at }) => {
      const each = unsaved.get(id)
      if (each) return digestIn(each)
      const summary = summaries.get(id)
      if (summary === undefined) return []
      const row: TriageRow = JSON.parse(summary)
      const json = () => list.of(id) ?? digest(id)?.json ?? '{}'
      return {
        id,
        created_at,
        row,
        get json() {
          return json()
        },
      }
    })
  }

  return {
    entry: (id) => loaded(id)?.entry,
    has: (id) => slots.has(id),
    known: (id) => slots.get(id),
    ids: () => [...slots.keys()],
    order: ordered,
    size: () => slots.size,
    children: families.children,
    put(entry) {
      const { id } = entry
      keep(id, { entry, folder: null, digest: null })
      const { parent } = entry.file.value
      families.put(id, parent === null ? null : copyOf(parent))
      changed(id)
    },
    refresh(entry) {
      const { folder = null, digest = null } = loaded(entry.id) ?? {}
      keep(entry.id, { entry, folder, digest })
    },
    remove,
    folder(id) {
      const known = loaded(id)
      return known && folderIn(known)
    },
    digest,
    row,
    digests,
    listJson: list.bytes,
    touch,
    takeStored({ id, created_at, parent, names, print }) {
      slots.set(id, { id, created_at, names: shared(names), print })
      families.put(id, parent)
      order = null
      changed(id)
    },
    isReproducible(id) {
      const known = loaded(id)
      return known !== undefined && pins(id) === undefined && isReproducible(known.entry)
    },
    version: () => version,
  }
}

/** A part of a text keeps the whole text in memory; a copy of it does not. */
function copyOf(part: string): string {
  return Buffer.from(part).toString()
}

/** By created_at from late to early, then by id. */
function newestFirst(a: Slot, b: Slot): number {
  if (a.created_at !== b.created_at) return a.created_at > b.created_at ? -1 : 1
  return a.id < b.id ? -1 : 1
}
