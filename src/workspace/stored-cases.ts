/** Saves cases to casefile.db and loads them, so that a start reads only changed files. */

import { statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { forEachInTurn } from '../files/yielding.ts'
import type { FinishedRun } from '../model/finished-runs.ts'
import { listKey, listSection, triageKey } from '../model/list-order.ts'
import type { TriageRow } from '../model/triage-row.ts'
import { fieldColumns } from '../state/case-filters.ts'
import type { ListColumns, UnsavedCase } from '../state/case-lists.ts'
import type { CaseRows, KnownCase, ReadCaseRows } from '../state/cases.ts'
import type { CaseEntry } from './case-entry.ts'
import type { CaseStamps } from './case-stamps.ts'
import { encodeEntry, isReproducible } from './entry-json.ts'
import { type LastGood, partsOfKey } from './last-good.ts'

/** Writes cases to the database with a short delay. */
export interface StoredCases
  extends LastGood,
    Pick<CaseRows, 'values' | 'json' | 'summary' | 'allJson'> {
  /** Stores a case, once it is published. */
  save(id: string, what: ToSave): void
  remove(id: string): void
  /** The cases whose database rows are missing or outdated, for lists. */
  unsaved(): UnsavedCase[]
  /** A case as the last run stored it. If its stamps are unchanged, its files need not be read. Only before `begin`. */
  rowFromLastRun(id: string): KnownCase | undefined
  /** Call when all files are read: removes stored cases that are gone. */
  allRead(isGone: (id: string) => boolean): void
  /**
   * Call when everything read at start is published: starts saving. Before that nothing is saved, so that a service
   * that dies finds unpublished changes again.
   */
  begin(signal: AbortSignal): Promise<void>
  /** Saves waiting cases if they are published. Call before the database is closed. */
  close(): void
}

export interface ToSave {
  created_at: string
  /** The row shown in lists. */
  summary(): TriageRow
  runs(): FinishedRun[]
  row(): {
    entry: CaseEntry
    stamps: CaseStamps | null
    json: string
    /** Whether a baseline affects its values. */
    isPinned: boolean
  }
  /** `isInUse` is false for changes found at start. */
  onSaved(isInUse: boolean): void
}

/** Marks a deleted case. */
interface Gone {
  created_at: null
}

/** How long a change waits to be stored together with others. */
const SAVE_MS = 500

/** Version of the stored format. */
const FORMAT = 7

/**
 * Identifies the format of stored values, which belong to one build: another build may read the same files
 * differently.
 */
export function storedFormat(version: string): string {
  const own = statSync(fileURLToPath(import.meta.url), { throwIfNoEntry: false })
  return JSON.stringify([FORMAT, version, own?.mtimeMs])
}

/** Stored cases for commands that only read: nothing is saved. */
export function readStoredCases(rows: ReadCaseRows): StoredCases {
  const stored = createStoredCases(Object.assign({ put() {}, remove() {} }, rows))
  return Object.assign(stored, {
    remember() {},
    recall: (key: string) => rows.text(...partsOfKey(key)),
  })
}

/** Loads the rows on first use, as that takes time with many cases. */
function lastRows(rows: ReadCaseRows): (id: string) => KnownCase | undefined {
  let found: Map<string, KnownCase> | null = null
  return (id) => {
    found ??= new Map(rows.known().map((known) => [known.id, known]))
    return found.get(id)
  }
}

export function createStoredCases(rows: CaseRows): StoredCases {
  /** Changes that are not in the database yet. */
  const unsaved = new Map<string, ToSave | Gone>()
  /** Ids among `unsaved` that were not passed to the database yet. */
  const notHandedOver = new Set<string>()
  /** Texts that are not in the database yet, by case and file. */
  const texts = new Map<string, Record<string, string>>()
  let rowFromLastRun = lastRows(rows)
  let hasBegun = false
  let timer: NodeJS.Timeout | undefined
  /** Ids of all stored cases, for fast lookups during a start. */
  let ids: Set<string> | null = null

  /** Saves with a delay, as rows matter only at the next start, and a case that changes often changes again soon. */
  function add(id: string, what: ToSave | Gone): void {
    unsaved.set(id, what)
    notHandedOver.add(id)
    if (hasBegun) timer ??= setTimeout(saveAll, SAVE_MS).unref()
  }

  function remove(id: string): void {
    texts.delete(id)
    add(id, { created_at: null })
    if (hasBegun) saveOne(id) // deleted data must not remain
  }

  function saveAll(): void {
    clearTimeout(timer)
    timer = undefined
    for (const id of notHandedOver) saveOne(id)
  }

  function saveOne(id: string): void {
    const what = unsaved.get(id)
    if (!notHandedOver.delete(id) || !what) return
    if (what.created_at === null) rows.remove(id, () => saved(id, what))
    else put(id, what)
  }

  function saved(id: string, what: ToSave | Gone): void {
    if (unsaved.get(id) === what) unsaved.delete(id)
  }

  function put(id: string, what: ToSave): void {
    const { entry, stamps, json, isPinned } = what.row()
    const { created_at, parent } = entry.file.value
    ids?.add(id)
    const isInUse = hasBegun
    const fresh = texts.get(id) ?? {}
    rows.put(
      {
        id,
        created_at,
        parent,
        names: stamps?.names ?? '',
        print: !isPinned && isReproducible(entry) ? (stamps?.print ?? null) : null,
        ...listColumns(what),
        json,
        entry: encodeEntry(entry),
        texts: fresh,
        files: ['case.md', ...[...entry.sessions.keys()].map((number) => `sessions/${number}.md`)],
      },
      () => {
        if (texts.get(id) === fresh) texts.delete(id)
        saved(id, what)
        what.onSaved(isInUse)
      },
    )
  }

  return {
    values: rows.values,
    json: rows.json,
    summary: rows.summary,
    allJson: rows.allJson,
    save: add,
    remove,
    unsaved: () =>
      [...unsaved].map(([id, what]) => ({
        id,
        created_at: what.created_at,
        columns: () => (what.created_at === null ? null : listColumns(what)),
      })),
    rowFromLastRun: (id) => rowFromLastRun(id),
    close() {
      if (hasBegun) saveAll()
    },
    allRead(isGone) {
      for (const id of rows.ids()) if (isGone(id)) remove(id)
    },
    async begin(signal) {
      rowFromLastRun = () => undefined
      await forEachInTurn(notHandedOver, signal, saveOne)
      hasBegun = true
      ids = null
    },
    remember(key, text) {
      const [id, file] = partsOfKey(key)
      texts.set(id, { ...texts.get(id), [file]: text })
    },
    recall(key) {
      const [id, file] = partsOfKey(key)
      const fresh = texts.get(id)?.[file]
      if (fresh !== undefined) return fresh
      if (!hasBegun) ids ??= new Set(rows.ids())
      return ids?.has(id) === false ? null : rows.text(id, file)
    },
    forget(id) {
      texts.delete(id)
    },
  }
}

function listColumns(what: Pick<ToSave, 'summary' | 'runs'>): ListColumns {
  const summary = what.summary()
  const runs = what.runs()
  const ends = runs.map(({ ended_at }) => ended_at)
  return {
    ...fieldColumns(summary),
    needs: summary.needs?.kind ?? null,
    triage_place: triageKey(summary),
    list_section: listSection(summary),
    list_place: listKey(summary),
    summary: JSON.stringify(summary),
    runs: JSON.stringify(runs),
    last_run_at: ends.reduce((last: string | null, at) => (last && last > at ? last : at), null),
  }
}
