import { statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { TriageRow } from '../model/triage-row.ts'
import type { CaseRows } from '../state/cases.ts'
import type { CaseEntry } from './case-entry.ts'
import type { CaseStamps } from './case-stamps.ts'
import { encodeEntry, isReproducible } from './entry-json.ts'
import { type LastGood, partsOfKey } from './last-good.ts'

/** Puts what was read of cases into the database, a moment later. */
export interface StoredCases extends LastGood, Pick<CaseRows, 'values' | 'shown' | 'summaries' | 'allJson'> {
  /** Stores a case with what was published of it in the same turn of the event loop. */
  save(id: string, what: ToSave): void
  remove(id: string): void
  /** Saves nothing until `release`: what has changed must be published before. */
  hold(): void
  release(): void
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
  onSaved(): void
}

/** Of what is stored, beside the program itself. */
const FORMAT = 3

/** Values are those of one build of the program: another may read the same files otherwise. */
export function storedFormat(version: string): string {
  const { mtimeMs } = statSync(fileURLToPath(import.meta.url))
  return JSON.stringify([FORMAT, version, mtimeMs])
}

export function createStoredCases(rows: CaseRows): StoredCases {
  /** Null of a case that is gone. */
  const due = new Map<string, ToSave | null>()
  /** By case, then by file: texts that are not in the database yet. */
  const texts = new Map<string, Record<string, string>>()
  let isHeld = false

  function add(id: string, what: ToSave | null): void {
    if (due.size === 0 && !isHeld) queueMicrotask(saveAll)
    due.set(id, what)
  }

  function saveAll(): void {
    if (isHeld) return
    for (const [id, what] of due) {
      if (what) put(id, what)
      else rows.remove(id)
    }
    due.clear()
  }

  function put(id: string, { row, onSaved }: ToSave): void {
    const { entry, stamps, json, summary, isPinned } = row()
    const { created_at, parent } = entry.file.value
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
        onSaved()
      },
    )
  }

  return {
    values: rows.values,
    shown: rows.shown,
    summaries: rows.summaries,
    allJson: rows.allJson,
    save: add,
    remove(id) {
      texts.delete(id)
      add(id, null)
    },
    hold() {
      isHeld = true
    },
    release() {
      isHeld = false
      saveAll()
    },
    remember(key, text) {
      const [id, file] = partsOfKey(key)
      texts.set(id, { ...texts.get(id), [file]: text })
    },
    recall(key) {
      const [id, file] = partsOfKey(key)
      return texts.get(id)?.[file] ?? rows.text(id, file)
    },
    forget(id) {
      texts.delete(id)
    },
  }
}
