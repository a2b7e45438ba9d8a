/** Cases between memory and casefile.db, so that a start reads only changed files. */

import { statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { forEachInTurn } from '../files/yielding.ts'
import type { TriageRow } from '../model/triage-row.ts'
import type { CaseRows, KnownCase, ReadCaseRows } from '../state/cases.ts'
import type { CaseEntry } from './case-entry.ts'
import type { CaseStamps } from './case-stamps.ts'
import { encodeEntry, isReproducible } from './entry-json.ts'
import { type LastGood, partsOfKey } from './last-good.ts'

/** Puts what was read of cases into the database, a moment later. */
export interface StoredCases
  extends LastGood,
    Pick<CaseRows, 'values' | 'shown' | 'summary' | 'summaries' | 'allJson'> {
  /** Stores a case, once what it says is published. */
  save(id: string, what: ToSave): void
  remove(id: string): void
  /** One whose files need not be read again, if their stamps are the same: until `begin`. */
  found(id: string): KnownCase | undefined
  /**
   * All that was read is published: saves it, and removes the cases that are gone. Before, what a case says is not
   * saved: a service that dies must find again what it has not published.
   */
  begin(isThere: (id: string) => boolean, signal: AbortSignal): Promise<void>
  /** Saves what waits; before the database is closed. */
  close(): void
}

export interface ToSave {
  row(): {
    entry: CaseEntry
    stamps: CaseStamps | null
    json: string
    summary: TriageRow
    /** Whether more than its files decides what is shown of it. */
    isPinned: boolean
  }
  /** `isInUse` where a request or an edit made the change, and no start. */
  onSaved(isInUse: boolean): void
}

/** So long a change waits to be stored with others. */
const SAVE_MS = 500

/** Of what is stored, beside the program itself. */
const FORMAT = 3

/** Values are those of one build of the program: another may read the same files otherwise. */
export function storedFormat(version: string): string {
  const own = statSync(fileURLToPath(import.meta.url), { throwIfNoEntry: false })
  return JSON.stringify([FORMAT, version, own?.mtimeMs])
}

/** Stored cases for a command that reads: nothing of what it finds is saved. */
export function readStoredCases(rows: ReadCaseRows): StoredCases {
  return {
    values: rows.values,
    shown: rows.shown,
    summary: rows.summary,
    summaries: rows.summaries,
    allJson: rows.allJson,
    found: foundIn(rows),
    recall: (key) => rows.text(...partsOfKey(key)),
    save() {},
    remove() {},
    close() {},
    async begin() {},
    remember() {},
    forget() {},
  }
}

/** Read when the first is asked for: of very many cases that takes its time. */
function foundIn(rows: ReadCaseRows): (id: string) => KnownCase | undefined {
  let found: Map<string, KnownCase> | null = null
  return (id) => {
    found ??= new Map(rows.known().map((known) => [known.id, known]))
    return found.get(id)
  }
}

export function createStoredCases(rows: CaseRows): StoredCases {
  /** Null of a case that is gone. */
  const due = new Map<string, ToSave | null>()
  /** By case, then by file: texts that are not in the database yet. */
  const texts = new Map<string, Record<string, string>>()
  let found = foundIn(rows)
  let hasBegun = false
  let timer: NodeJS.Timeout | undefined
  /** The ids of all stored cases, while a start asks for thousands. */
  let ids: Set<string> | null = null

  /** A row is only there for the next start, and what changes once mostly changes again: its stamps, say. */
  function add(id: string, what: ToSave): void {
    due.set(id, what)
    if (hasBegun) timer ??= setTimeout(saveAll, SAVE_MS).unref()
  }

  function saveAll(): void {
    clearTimeout(timer)
    timer = undefined
    for (const id of due.keys()) saveOne(id)
  }

  function saveOne(id: string): void {
    const what = due.get(id)
    if (what) put(id, what)
    else if (what === null) rows.remove(id)
    due.delete(id)
  }

  function put(id: string, { row, onSaved }: ToSave): void {
    const { entry, stamps, json, summary, isPinned } = row()
    const { created_at, parent } = entry.file.value
    ids?.add(id)
    const fresh = texts.get(id) ?? {}
    rows.put(
      {
        id,
        created_at,
        parent,
        names: stamps?.names ?? '',
        print: !isPinned && isReproducible(entry) ? (stamps?.print ?? null) : null,
        summary: JSON.stringify(summary),
        json,
        entry: encodeEntry(entry),
        texts: fresh,
        files: ['case.md', ...[...entry.sessions.keys()].map((number) => `sessions/${number}.md`)],
      },
      () => {
        if (texts.get(id) === fresh) texts.delete(id)
        onSaved(hasBegun)
      },
    )
  }

  return {
    values: rows.values,
    shown: rows.shown,
    summary: rows.summary,
    summaries: rows.summaries,
    allJson: rows.allJson,
    save: add,
    remove(id) {
      texts.delete(id)
      due.set(id, null)
      if (hasBegun) saveOne(id) // nothing of it stays
    },
    found: (id) => found(id),
    close: saveAll,
    async begin(isThere, signal) {
      found = () => undefined
      await forEachInTurn(due.keys(), signal, saveOne)
      hasBegun = true
      ids = null
      for (const id of rows.ids()) if (!isThere(id)) rows.remove(id)
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
