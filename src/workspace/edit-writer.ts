/**
 * Writes the edits of one decision to the files of a case, updates the catalog, and publishes them with their history
 * lines. Used by the store.
 */

import { dirname } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { decoded } from '../files/decoded.ts'
import { readNow } from '../files/read-now.ts'
import { CASE_FILE, MAX_CASE_BYTES } from '../markdown/case-file.ts'
import { historyLine } from '../markdown/history-file.ts'
import { AppError } from '../model/app-error.ts'
import type { Case } from '../model/case.ts'
import type { CaseContents, Edit, FileEdit } from '../model/case-contents.ts'
import { HISTORY_FILE, SERVICE_ACTOR } from '../model/history.ts'
import { nextTrailNumber } from '../model/trail.ts'
import { type CaseChange, type CaseEntry, hasOpenSession } from './case-entry.ts'
import type { FrozenCases } from './frozen-cases.ts'
import { noteOf } from './history-append.ts'
import { noteHashes } from './index/case-rows.ts'
import type { Catalog } from './index/catalog.ts'
import type { ReplacedFileTrackers } from './late-saves/trackers.ts'
import type { Latest } from './latest.ts'
import type { PendingHistory } from './pending-history.ts'
import type { RecordFile } from './record-file.ts'
import {
  type ReaderDeps,
  readCaseRecord,
  readProofRecord,
  readSessionRecord,
} from './record-readers.ts'
import type { TrailMemory } from './trail-memory.ts'
import { type StagedEdit, stageEdit } from './write-edit.ts'

export interface EditWriterDeps extends ReaderDeps {
  catalog: Catalog
  lateSaves: ReplacedFileTrackers
  trails: TrailMemory
  history: PendingHistory
  publish(change: CaseChange): void
  frozenCases: Pick<FrozenCases, 'written'>
  latest: Latest
}

/** An edit with its history lines. */
export interface RecordedEdit {
  edit: Edit
  lines: string[]
}

/** The files of a new case. */
export interface MadeFiles {
  text: string
  history: string
  /** The lines of the history. */
  lines: readonly string[]
}

/** Writes edits to disk and their results to the catalog. */
export interface EditWriter {
  /** Adds a newly created case to the catalog and publishes it. */
  made(id: string, written: MadeFiles): Promise<void>
  /**
   * Writes the edits of one decision. Returns false, with nothing changed, if a file was saved by someone else since, so
   * that the change is decided again.
   */
  write(decidedOn: CaseContents, edits: RecordedEdit[], attempt: number): Promise<boolean>
  /** Publishes a case as it is now, with lines for its history. The files that `wrote` names have an event in any case. */
  publishWith(
    entry: CaseEntry,
    lines: readonly string[],
    more?: Pick<CaseChange, 'wrote' | 'isOfTrail'>,
  ): void
}

/** About 2 s with the pauses, in case an editor saves continuously. */
const ATTEMPTS = 45
const PAUSE_MS = 5
const MAX_PAUSE_MS = 50

/** `current` reads a case again. The caller has the case's mutex. */
export function createEditWriter(
  deps: EditWriterDeps,
  current: (id: string) => Promise<CaseContents>,
): EditWriter {
  const { layout, catalog, publish } = deps

  async function made(id: string, { text, history: historyText, lines }: MadeFiles): Promise<void> {
    const own = { pass: null, written: text }
    const file = await readCaseRecord(deps, id, { known: undefined, ...own }, false)
    const entry: CaseEntry = {
      id,
      file: file!,
      sessions: new Map(),
      proofs: new Map(),
      notes: new Map([[HISTORY_FILE, noteOf(Buffer.from(historyText))]]),
      folders: new Map([['.', null]]), // no stamp, as files may have been added since
      vanished: false,
      latest: '',
      problems: [],
    }
    deps.history.made(id, lines)
    catalog.put(entry)
    publish({ caseId: id, source: 'service' })
  }

  /**
   * All files are on the disk before the first one gets its name, so that a disk without room for one of them changes
   * nothing.
   */
  async function write(
    decidedOn: CaseContents,
    edits: RecordedEdit[],
    attempt: number,
  ): Promise<boolean> {
    const { id } = decidedOn.case
    const [first, ...others] = edits
    if (!first) return true
    const ready: (StagedEdit | null)[] = []
    try {
      for (const { edit } of others) ready.push(await prepare(id, edit))
      if (!(await writeOne(id, first, attempt))) return false
      await follow(decidedOn, others, ready)
      return true
    } catch (error) {
      if (ready.length === others.length) throw error
      return decideAgain(error, attempt)
    } finally {
      for (const each of ready) await each?.close()
    }
  }

  async function prepare(id: string, edit: Edit): Promise<StagedEdit | null> {
    if (edit.file === 'ignored-state') return null
    return stageEdit(layout, catalog.entry(id)!, edit, deps)
  }

  /** Pauses before the change is decided again, if an error means that. */
  async function decideAgain(error: unknown, attempt: number): Promise<false> {
    if (!isChanged(error) || attempt >= ATTEMPTS) throw error
    await delay(Math.min(attempt * PAUSE_MS, MAX_PAUSE_MS))
    return false
  }

  /** Writes one edit, whose file may be staged. Returns false if it was saved by someone else since. */
  async function writeOne(
    id: string,
    { edit, lines }: RecordedEdit,
    attempt: number,
    ready: StagedEdit | null = null,
  ): Promise<boolean> {
    const known = catalog.entry(id)!
    if (edit.file === 'ignored-state') {
      await publishEdit(known, edit, lines)
      return true
    }
    let staged = ready
    try {
      staged ??= await stageEdit(layout, known, edit, deps)
      await staged.place()
    } catch (error) {
      return decideAgain(error, attempt)
    }
    try {
      await staged.sync()
      await apply(known, edit, staged.text, lines)
    } finally {
      await staged.close()
    }
    if (edit.file === 'new-session') await deps.latest.update(catalog.entry(id)!)
    return true
  }

  /**
   * Writes the edits after the first one, which cannot be undone. If someone saved such a file since, the edit is
   * applied to the new version. If a person has just set the same field, their value stays.
   */
  async function follow(
    decidedOn: CaseContents,
    edits: RecordedEdit[],
    prepared: (StagedEdit | null)[],
  ): Promise<void> {
    const { id } = decidedOn.case
    for (const [index, { edit: wanted, lines }] of edits.entries()) {
      let edit = wanted
      let ready = prepared[index] ?? null
      prepared[index] = null
      for (let attempt = 1; !(await writeOne(id, { edit, lines }, attempt, ready)); attempt++) {
        ready = null
        const present = await current(id)
        if (edit.file === 'session') edit = renumbered(edit, present)
        if (edit.file !== 'case') continue
        if (!catalog.entry(id)!.file.readable) break
        const fields = Object.keys(edit.edit.fields ?? {}) as (keyof Case)[]
        if (fields.some((key) => present.case[key] !== decidedOn.case[key])) break
      }
    }
  }

  /** Updates the catalog with what was written, and publishes the change. */
  async function apply(
    known: CaseEntry,
    edit: FileEdit,
    text: string,
    lines: readonly string[],
  ): Promise<void> {
    const { id } = known
    const entry: CaseEntry = { ...known }
    const of = { id, title: known.file.value.title }
    const own = { pass: null, written: text }
    if (edit.file === 'case') {
      const record = await readCaseRecord(
        deps,
        id,
        { known: known.file, ...own },
        hasOpenSession(known),
      )
      entry.file = record!
    } else if (edit.file === 'session' || edit.file === 'new-session') {
      entry.file = withText(known.file, layout.caseFile(id))
      const number = edit.file === 'session' ? edit.number : edit.session.number
      const before = known.sessions.get(number)
      const record = await readSessionRecord(deps, of, number, { known: before, ...own })
      entry.sessions = new Map(known.sessions).set(number, record!)
    } else {
      const proofId = edit.file === 'proof' ? edit.id : edit.proof.id
      const before = known.proofs.get(proofId)
      const record = await readProofRecord(deps, id, proofId, { known: before, ...own })
      entry.proofs = new Map(known.proofs).set(proofId, record!)
    }
    await publishEdit(entry, edit, lines)
  }

  /** The lines are in the transaction of the events of the edit. */
  async function publishEdit(
    entry: CaseEntry,
    edit: Edit,
    lines: readonly string[],
  ): Promise<void> {
    const ignored = catalog.folder(entry.id)?.ignored ?? []
    await deps.frozenCases.written(edit, entry, ignored)
    publishWith(entry, lines, { isOfTrail: lines.length === 0 && isOfTrail(edit) })
  }

  function publishWith(
    entry: CaseEntry,
    lines: readonly string[],
    more: Pick<CaseChange, 'wrote' | 'isOfTrail'> = {},
  ): void {
    const { id, notes } = entry
    const known = (catalog.published(id)?.notes ?? noteHashes(entry)).get(HISTORY_FILE) ?? ''
    const history = deps.history.add(id, withBegin(entry, lines), known)
    const note = history && noteOf(history)
    if (note) catalog.setNotePublished(id, HISTORY_FILE, known, note.hash)
    catalog.put(note ? { ...entry, notes: new Map(notes).set(HISTORY_FILE, note) } : entry)
    publish({ caseId: id, source: 'service', ...more })
  }

  return { made, write, publishWith }
}

/** Whether it only adds lines to an audit trail. */
function isOfTrail(edit: Edit): boolean {
  return edit.file === 'session' && Object.keys(edit.edit).join() === 'lines'
}

/** With its text, so that the case can be restored while the session runs. */
function withText(record: RecordFile<Case>, path: string): RecordFile<Case> {
  if (record.text !== undefined || !record.readable) return record
  const read = decoded(readNow(path, MAX_CASE_BYTES, dirname(path)), CASE_FILE)
  return read.ok && read.hash === record.hash ? { ...record, text: read.text } : record
}

/** A history.md that is made begins with the case; who made an older case, or one made by hand, is unknown. */
function withBegin({ notes, file }: CaseEntry, lines: readonly string[]): readonly string[] {
  if (lines.length === 0 || notes.has(HISTORY_FILE)) return lines
  const created = { act: { name: 'created' }, who: 'unknown' } as const
  return [historyLine(created, SERVICE_ACTOR, file.value.created_at), ...lines]
}

function isChanged(error: unknown): boolean {
  return error instanceof AppError && error.code === 'changed_meanwhile'
}

/** Renumbers audit lines to follow those that the audit trail has now. */
function renumbered(edit: Edit & { file: 'session' }, { sessions }: CaseContents): typeof edit {
  const trail = sessions.find((session) => session.number === edit.number)?.trail ?? []
  const first = nextTrailNumber(trail)
  const { lines: added = [] } = edit.edit
  const by = first - (added[0]?.number ?? first)
  const lines = added.map((line) => ({ ...line, number: line.number + by }))
  return { ...edit, edit: { ...edit.edit, lines } }
}
