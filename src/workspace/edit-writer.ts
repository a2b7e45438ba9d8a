/**
 * Writes the edits of one decision to the files of a case, with their history lines, and updates the catalog. Used by
 * the store.
 */

import { setTimeout as delay } from 'node:timers/promises'
import { diskError } from '../files/storage-error.ts'
import { AppError } from '../model/app-error.ts'
import type { Case } from '../model/case.ts'
import type { CaseFolder, Edit, FileEdit } from '../model/case-folder.ts'
import { HISTORY_FILE } from '../model/history.ts'
import { nextTrailNumber } from '../model/trail.ts'
import type { Baselines } from './baselines.ts'
import type { CaseChange, CaseEntry } from './case-entry.ts'
import type { Catalog } from './catalog.ts'
import { differences } from './differences.ts'
import { noteOf, placeHistory, type StagedHistory, stageHistory } from './history-append.ts'
import type { HistoryJournal } from './history-journal.ts'
import type { ReplacedFileTrackers } from './late-saves/trackers.ts'
import type { Latest } from './latest.ts'
import { type ReaderDeps, readCaseRecord, readProofRecord, readSessionRecord } from './readers.ts'
import { changedFile, type StagedEdit, stageEdit } from './write-edit.ts'

export interface EditWriterDeps extends ReaderDeps {
  catalog: Catalog
  lateSaves: ReplacedFileTrackers
  history: HistoryJournal
  publish(change: CaseChange): void
  baselines: Pick<Baselines, 'written'>
  latest: Latest
  log(line: string): void
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
}

/**
 * The written but not yet placed files of an edit. `appended` is null without history lines, or if they cannot be
 * appended.
 */
interface Staged {
  edited: StagedEdit
  appended: StagedHistory | null
}

/** A later edit of a decision that waits on the disk, and the id of its pending history lines. */
interface Ready {
  edited: StagedEdit
  begun: number
}

/** Writes edits to disk and their results to the catalog. */
export interface EditWriter {
  /** Adds a newly created case to the catalog and publishes it. */
  made(id: string, written: MadeFiles): Promise<void>
  /**
   * Writes the edits of one decision. Returns false, with nothing changed, if a file was saved by someone else since, so
   * that the change is decided again.
   */
  write(decidedOn: CaseFolder, edits: RecordedEdit[], attempt: number): Promise<boolean>
  /** Appends pending history lines that could not be written before. */
  record(id: string): Promise<void>
}

/** About 2 s with the pauses, in case an editor saves continuously. */
const ATTEMPTS = 45
const PAUSE_MS = 5
const MAX_PAUSE_MS = 50

/** `current` reads a case again. The caller has the case's mutex. */
export function createEditWriter(
  deps: EditWriterDeps,
  current: (id: string) => Promise<CaseFolder>,
): EditWriter {
  const { layout, catalog, publish, history } = deps

  async function made(id: string, { text, history }: MadeFiles): Promise<void> {
    const own = { pass: null, written: text }
    const file = await readCaseRecord(deps, id, { known: undefined, ...own })
    const entry: CaseEntry = {
      id,
      file: file!,
      sessions: new Map(),
      proofs: new Map(),
      notes: new Map([[HISTORY_FILE, noteOf(layout.memoryFile(id, HISTORY_FILE), history)]]),
      folders: new Map([['.', null]]), // no stamp, as files may have been added since
      vanished: false,
      latest: '',
      problems: [],
    }
    catalog.put(entry)
    publish({ caseId: id, found: differences(undefined, entry), source: 'service' })
  }

  /**
   * All files are on the disk before the first one gets its name, so that a disk without room for one of them changes
   * nothing.
   */
  async function write(
    decidedOn: CaseFolder,
    edits: RecordedEdit[],
    attempt: number,
  ): Promise<boolean> {
    const { id } = decidedOn.case
    const [first, ...others] = edits
    if (!first) return true
    const ready: (Ready | null)[] = []
    try {
      for (const other of others) ready.push(await prepare(id, other))
      if (!(await writeOne(id, first, attempt))) return false
      await follow(decidedOn, others, ready)
      return true
    } catch (error) {
      if (ready.length === others.length) throw error
      return decideAgain(error, attempt)
    } finally {
      for (const each of ready) {
        if (!each) continue
        history.drop(each.begun)
        await each.edited.close()
      }
    }
  }

  async function prepare(id: string, { edit, lines }: RecordedEdit): Promise<Ready | null> {
    if (edit.file === 'ignored-state') return null
    const known = catalog.entry(id)!
    const edited = await stageEdit(layout, known, edit, deps)
    return { edited, begun: beginLines(known, edit, lines) }
  }

  function beginLines(known: CaseEntry, edit: FileEdit, lines: string[]): number {
    return lines.length > 0 ? history.begin(known.id, lines, changedFile(known, edit)) : 0
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
    ready: Ready | null = null,
  ): Promise<boolean> {
    const known = catalog.entry(id)!
    if (edit.file === 'ignored-state') {
      if (lines.length > 0) history.begin(id, lines, null)
      await publishEdit({ ...known, notes: await recorded(known) }, edit)
      return true
    }
    const hasLines = lines.length > 0
    const begun = ready?.begun ?? beginLines(known, edit, lines)
    let staged: Staged | null = null
    try {
      // so that a power cut between the two files does not lose who approved; edits of other files are found at start
      if (hasLines && isTrail(edit)) await history.sync()
      staged = await stage(known, edit, lines, ready?.edited ?? null)
      await staged.edited.place()
    } catch (error) {
      await staged?.appended?.close()
      if (hasLines) history.drop(begun)
      return decideAgain(error, attempt)
    }
    if (hasLines) history.made(begun)
    try {
      await finish(known, edit, staged)
    } finally {
      await staged.edited.close()
    }
    if (edit.file === 'new-session') await deps.latest.update(catalog.entry(id)!)
    return true
  }

  /** Writes the edited file and the history in parallel. Errors of the history are reported when it is placed. */
  async function stage(
    known: CaseEntry,
    edit: FileEdit,
    lines: string[],
    ready: StagedEdit | null,
  ): Promise<Staged> {
    const due = lines.length > 0 ? history.due(known.id).lines.concat(lines) : []
    const [edited, appended] = await Promise.allSettled([
      ready ?? stageEdit(layout, known, edit, deps),
      due.length > 0 ? stageHistory(deps, known, due) : null,
    ])
    const stagedHistory = appended.status === 'fulfilled' ? appended.value : null
    if (edited.status === 'fulfilled') return { edited: edited.value, appended: stagedHistory }
    await stagedHistory?.close()
    throw edited.reason
  }

  /**
   * Places the history after the file and syncs both: together if they are in the same folder, else the file first.
   * Then publishes the change.
   */
  async function finish(
    known: CaseEntry,
    edit: FileEdit,
    { edited, appended }: Staged,
  ): Promise<void> {
    let syncing: Promise<void> | null = null
    const sync = () => {
      syncing ??= edited.sync()
      return syncing
    }
    const isBeside = edit.file === 'case'
    if (!isBeside) await sync()
    const notes = await recorded(known, appended, isBeside ? sync : undefined)
    await sync()
    await apply({ ...known, notes }, edit, edited.text)
  }

  /**
   * Appends pending history lines and returns the resulting memory files. If history.md cannot be written, the change
   * succeeds and the lines stay pending.
   */
  async function recorded(
    known: CaseEntry,
    staged: StagedHistory | null = null,
    sync?: () => Promise<void>,
  ): Promise<CaseEntry['notes']> {
    const { id, notes } = known
    const { ids, lines } = history.due(id)
    if (lines.length === 0) return notes
    let placed: StagedHistory | null = null
    try {
      placed = await placeHistory(deps, known, lines, staged)
      const { path, text, before, after } = placed
      await (sync ?? placed.sync)()
      history.written(ids)
      // edits by others are published by the next scan
      const isKnown = (notes.get(HISTORY_FILE)?.hash ?? '') === before
      return isKnown ? new Map(notes).set(HISTORY_FILE, noteOf(path, text, after)) : notes
    } catch (error) {
      const storageProblem = error instanceof AppError ? error : diskError(error)
      if (!storageProblem) throw error
      await history.sync()
      deps.log(
        `the history of case ${id} could not be written and will be written later: ${storageProblem.message}`,
      )
      return notes
    } finally {
      await placed?.close()
    }
  }

  async function record(id: string): Promise<void> {
    const known = catalog.entry(id)
    if (!known) return
    const notes = await recorded(known)
    if (notes === known.notes) return
    catalog.put({ ...known, notes })
    publish({ caseId: id, found: [], source: 'service' })
  }

  /**
   * Writes the edits after the first one, which cannot be undone. If someone saved such a file since, the edit is
   * applied to the new version. If a person has just set the same field, their value stays.
   */
  async function follow(
    decidedOn: CaseFolder,
    edits: RecordedEdit[],
    prepared: (Ready | null)[],
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
  async function apply(known: CaseEntry, edit: FileEdit, text: string): Promise<void> {
    const { id } = known
    const entry: CaseEntry = {
      ...known,
      sessions: new Map(known.sessions),
      proofs: new Map(known.proofs),
    }
    const of = { id, title: known.file.value.title }
    const own = { pass: null, written: text }
    if (edit.file === 'case') {
      const record = await readCaseRecord(deps, id, { known: known.file, ...own })
      entry.file = record!
    } else if (edit.file === 'session' || edit.file === 'new-session') {
      const number = edit.file === 'session' ? edit.number : edit.session.number
      const before = known.sessions.get(number)
      const record = await readSessionRecord(deps, of, number, { known: before, ...own })
      entry.sessions.set(number, record!)
    } else {
      const proofId = edit.file === 'proof' ? edit.id : edit.proof.id
      const before = known.proofs.get(proofId)
      const record = await readProofRecord(deps, id, proofId, { known: before, ...own })
      entry.proofs.set(proofId, record!)
    }
    await publishEdit(entry, edit)
  }

  async function publishEdit(entry: CaseEntry, edit: Edit): Promise<void> {
    const ignored = catalog.folder(entry.id)?.ignored ?? []
    await deps.baselines.written(edit, entry, ignored)
    const known = catalog.entry(entry.id)
    catalog.put(entry)
    publish({ caseId: entry.id, found: differences(known, entry), source: 'service' })
  }

  return { made, write, record }
}

function isTrail({ file }: Edit): boolean {
  return file === 'new-session' || file === 'session'
}

function isChanged(error: unknown): boolean {
  return error instanceof AppError && error.code === 'changed_meanwhile'
}

/** Renumbers audit lines to follow those that the audit trail has now. */
function renumbered(edit: Edit & { file: 'session' }, { sessions }: CaseFolder): typeof edit {
  const trail = sessions.find((session) => session.number === edit.number)?.trail ?? []
  const first = nextTrailNumber(trail)
  const lines = edit.edit.lines?.map((line, index) => ({ ...line, number: first + index }))
  return lines ? { ...edit, edit: { ...edit.edit, lines } } : edit
}
