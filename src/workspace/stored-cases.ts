/** Cases between memory and casefile.db, so that a start reads only changed files. */

import { statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { forEachInTurn } from '../files/yielding.ts'
import { listPlace, listSection, triagePlace } from '../model/list-order.ts'
import type { TriageRow } from '../model/triage-row.ts'
import { fieldColumns } from '../state/case-filters.ts'
import type { ListColumns, UnsavedCase } from '../state/case-lists.ts'
import type { CaseRows, KnownCase, ReadCaseRows } from '../state/cases.ts'
import type { CaseEntry } from './case-entry.ts'
import type { CaseStamps } from './case-stamps.ts'
import { encodeEntry, isReproducible } from './entry-json.ts'
import { type LastGood, partsOfKey } from './last-good.ts'

/** Puts what was read of cases into the database, a moment later. */
export interface StoredCases
  extends LastGood,
    Pick<CaseRows, 'values' | 'json' | 'summary' | 'allJson'> {
  /** Stores a case, once what it says is published. */
  save(id: string, what: ToSave): void
  remove(id: string): void
  /** The cases whose rows in the database are not there, or not as they are now: for lists. */
  unsaved(): UnsavedCase[]
  /** One whose files need not be read again, if their stamps are the same: until `begin`. */
  rowFromLastRun(id: string): KnownCase | undefined
  /** All files are read: removes the stored cases that are gone. */
  allRead(isGone: (id: string) => boolean): void
  /**
   * All that was read is published: saves it, and removes the cases that are gone. Before, what a case says is not
   * saved: a service that dies must find again what it has not published.
   */
  begin(signal: AbortSignal): Promise<void>
  /** Saves what waits, if all of it is published; before the database is closed. */
  close(): void
}

export interface ToSave {
  created_at: string
  /** What lists show of it. */
  summary(): TriageRow
  row(): {
    entry: CaseEntry
    stamps: CaseStamps | null
    json: string
    /** Whether more than its files decides what is shown of it. */
    isPinned: boolean
  }
  /** `isInUse` where a request or an edit made the change, and no start. */
  onSaved(isInUse: boolean): void
}

/** In its place, of a case that is no more. */
interface Gone {
  created_at: null
}

/** So long a change waits to be stored with others. */
const SAVE_MS = 500

/** Of what is stored, beside the program itself. */
const FORMAT = 5

/** Values are those of one build of the program: another may read the same files otherwise. */
export function storedFormat(version: string): string {
  const own = statSync(fileURLToPath(import.meta.url), { throwIfNoEntry: false })
  return JSON.stringify([FORMAT, version, own?.mtimeMs])
}

/** Stored cases for a command that reads: nothing of what it finds is saved. */
export function readStoredCases(rows: ReadCaseRows): StoredCases {
  const stored = createStoredCases(Object.assign({ put() {}, remove() {} }, rows))
  return Object.assign(stored, {
    remember() {},
    recall: (key: string) => rows.text(...partsOfKey(key)),
  })
}

/** Read when the first is asked for: of very many cases that takes its time. */
function lastRows(rows: ReadCaseRows): (id: string) => KnownCase | undefined {
  let found: Map<string, KnownCase> | null = null
  return (id) => {
    found ??= new Map(rows.known().map((known) => [known.id, known]))
    return found.get(id)
  }
}

export function createStoredCases(rows: CaseRows): StoredCases {
  /** What is not in the database yet. */
  const unsaved = new Map<string, ToSave | Gone>()
  /** Of those, the ids that the database was not given yet. */
  const notHandedOver = new Set<string>()
  /** By case, then by file: texts that are not in the database yet. */
  const texts = new Map<string, Record<string, string>>()
  let rowFromLastRun = lastRows(rows)
  let hasBegun = false
  let timer: NodeJS.Timeout | undefined
  /** The ids of all stored cases, while a start asks for thousands. */
  let ids: Set<string> | null = null

  /** A row is only there for the next start, and what changes once mostly changes again: its stamps, say. */
  function add(id: string, what: ToSave | Gone): void {
    unsaved.set(id, what)
    notHandedOver.add(id)
    if (hasBegun) timer ??= setTimeout(saveAll, SAVE_MS).unref()
  }

  function remove(id: string): void {
    texts.delete(id)
    add(id, { created_at: null })
    if (hasBegun) saveOne(id) // nothing of it stays
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
        ...listColumns(what.summary()),
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
        columns: () => (what.created_at === null ? null : listColumns(what.summary())),
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

function listColumns(summary: TriageRow): ListColumns {
  return {
    ...fieldColumns(summary),
    needs: summary.needs?.kind ?? null,
    triage_place: triagePlace(summary),
    list_section: listSection(summary),
    list_place: listPlace(summary),
    summary: JSON.stringify(summary),
  }
}
