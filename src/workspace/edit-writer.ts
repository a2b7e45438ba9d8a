/**
 * Writes the edits of one decision to the files of a case, with their history lines, and puts the result into the
 * catalog.
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
import { movedOn } from './deleted-sessions.ts'
import { differences } from './differences.ts'
import { noteOf, placeHistory, type StagedHistory, stageHistory } from './history-append.ts'
import type { HistoryJournal } from './history-journal.ts'
import type { ReplacedFileTrackers } from './late-saves/pre-images.ts'
import type { Latest } from './latest.ts'
import { type ReaderDeps, readCaseRecord, readProofRecord, readSessionRecord } from './readers.ts'
import type { StabilityDetector } from './sync/stability.ts'
import { changedFile, type StagedEdit, stageEdit } from './write-edit.ts'

export interface EditWriterDeps extends ReaderDeps {
  catalog: Catalog
  lateSaves: ReplacedFileTrackers
  stability: Pick<StabilityDetector, 'noteOwnWrite'>
  history: HistoryJournal
  publish(change: CaseChange): void
  baselines: Pick<Baselines, 'written'>
  latest: Latest
  log(line: string): void
}

/** An edit, and the lines that the history gets with it. */
export interface RecordedEdit {
  edit: Edit
  lines: string[]
}

/** What a new case consists of. */
export interface MadeFiles {
  text: string
  history: string
}

/** The files of an edit, written and not placed; null for a history that gets no lines, or cannot get them. */
interface Staged {
  edited: StagedEdit
  appended: StagedHistory | null
}

/** Puts the edits of a decision on the disk and what they make of it into the catalog. */
export interface EditWriter {
  /** Takes a case that was just made of these texts into the catalog, and publishes it. */
  made(id: string, written: MadeFiles): Promise<void>
  write(id: string, edit: RecordedEdit, attempt: number): Promise<boolean>
  follow(id: string, decidedOn: CaseFolder, edits: RecordedEdit[]): Promise<void>
  /** Appends the lines of the history that are due and could not be written before. */
  record(id: string): Promise<void>
}

/** With the pauses between them about 2 s, for somebody who saves all the time. */
const ATTEMPTS = 45
const PAUSE_MS = 5
const MAX_PAUSE_MS = 50

/** `current` reads what changed of a case. The caller has the case's mutex. */
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
      folders: new Map([['.', null]]), // whatever somebody may have put there since
      vanished: false,
      strayLatest: false,
      latest: '',
      deleted: {},
      problems: [],
    }
    catalog.put(entry)
    publish({ caseId: id, found: differences(undefined, entry), source: 'service' })
  }

  /** False when somebody saved the file meanwhile: then the change is decided again. */
  async function write(
    id: string,
    { edit, lines }: RecordedEdit,
    attempt: number,
  ): Promise<boolean> {
    const known = catalog.entry(id)!
    if (edit.file === 'ignored-state') {
      if (lines.length > 0) history.begin(id, lines, null)
      await take({ ...known, notes: await recorded(known) }, edit)
      return true
    }
    const hasLines = lines.length > 0
    const begun = hasLines ? history.begin(id, lines, changedFile(known, edit)) : 0
    let staged: Staged | null = null
    try {
      // a power cut between the two files would otherwise lose who approved; a start sees what changed in other files
      if (hasLines && isTrail(edit)) await history.sync()
      staged = await stage(known, edit, lines)
      await staged.edited.place()
    } catch (error) {
      await staged?.appended?.close()
      if (hasLines) history.drop(begun)
      if (!isChanged(error) || attempt >= ATTEMPTS) throw error
      await delay(Math.min(attempt * PAUSE_MS, MAX_PAUSE_MS))
      return false
    }
    if (hasLines) history.made(begun)
    deps.stability.noteOwnWrite(staged.edited.path)
    try {
      await finish(known, edit, staged)
    } finally {
      await staged.edited.close()
    }
    if (edit.file === 'new-session') await deps.latest.update(catalog.entry(id)!)
    return true
  }

  /** Writes the edited file and the history side by side. What is wrong with the history shows when it is placed. */
  async function stage(known: CaseEntry, edit: FileEdit, lines: string[]): Promise<Staged> {
    const due = lines.length > 0 ? history.due(known.id).lines.concat(lines) : []
    const [edited, appended] = await Promise.allSettled([
      stageEdit(layout, known, edit, deps),
      due.length > 0 ? stageHistory(deps, known, due) : null,
    ])
    const stagedHistory = appended.status === 'fulfilled' ? appended.value : null
    if (edited.status === 'fulfilled') return { edited: edited.value, appended: stagedHistory }
    await stagedHistory?.close()
    throw edited.reason
  }

  /**
   * Places the history after the file, and makes both durable: in one folder together, else the file first. Then the
   * change is published. A change that could not be synced is in the files as well, so it is published, too.
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
    if (!isBeside) await Promise.allSettled([sync()])
    const notes = await recorded(known, appended, isBeside ? sync : undefined)
    const [synced] = await Promise.allSettled([sync()])
    await apply({ ...known, notes }, edit, edited.text, synced.status === 'fulfilled')
    if (synced.status === 'rejected') throw synced.reason
  }

  /**
   * Appends the lines that are due, and gives the memory files as they are then. A history.md that cannot be
   * appended to keeps no change from being made: its lines stay due. They may be staged already.
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
      deps.stability.noteOwnWrite(path)
      await (sync ?? placed.sync)()
      history.written(ids)
      // what somebody else wrote there is published by the next scan
      const isKnown = (notes.get(HISTORY_FILE)?.hash ?? '') === before
      return isKnown ? new Map(notes).set(HISTORY_FILE, noteOf(path, text, after)) : notes
    } catch (error) {
      const refusal = error instanceof AppError ? error : diskError(error)
      if (!refusal) throw error
      await history.sync()
      deps.log(`the history of case ${id} gets its newest lines later: ${refusal.message}`)
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
   * The edits that belong to the first one, which is on disk and cannot be taken back: where somebody
   * saved such a file meanwhile they are made on what stands there now, unless a person has just set
   * the very field, which then stays as he set it.
   */
  async function follow(id: string, decidedOn: CaseFolder, edits: RecordedEdit[]): Promise<void> {
    for (const { edit: wanted, lines } of edits) {
      let edit = wanted
      for (let attempt = 1; !(await write(id, { edit, lines }, attempt)); attempt++) {
        const present = await current(id)
        if (edit.file === 'session') edit = renumbered(edit, present)
        if (edit.file !== 'case') continue
        if (!catalog.entry(id)!.file.readable) break
        const fields = Object.keys(edit.edit.fields ?? {}) as (keyof Case)[]
        if (fields.some((key) => present.case[key] !== decidedOn.case[key])) break
      }
    }
  }

  /** Takes what was written into the catalog, and publishes the change. */
  async function apply(
    known: CaseEntry,
    edit: FileEdit,
    text: string,
    isSynced: boolean,
  ): Promise<void> {
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
    if (movedOn(known, entry)) {
      entry.deleted = {}
      entry.problems = known.problems.filter(({ code }) => code !== 'session_missing')
    }
    await take(entry, edit, isSynced)
  }

  async function take(entry: CaseEntry, edit: Edit, isSynced = true): Promise<void> {
    const ignored = catalog.folder(entry.id)?.ignored ?? []
    if (isSynced) await deps.baselines.written(edit, entry, ignored)
    const known = catalog.entry(entry.id)
    catalog.put(entry)
    publish({ caseId: entry.id, found: differences(known, entry), source: 'service' })
  }

  return { made, write, follow, record }
}

function isTrail({ file }: Edit): boolean {
  return file === 'new-session' || file === 'session'
}

function isChanged(error: unknown): boolean {
  return error instanceof AppError && error.code === 'changed_meanwhile'
}

/** The same lines behind those that the trail has now. */
function renumbered(edit: Edit & { file: 'session' }, { sessions }: CaseFolder): typeof edit {
  const trail = sessions.find((session) => session.number === edit.number)?.trail ?? []
  const first = nextTrailNumber(trail)
  const lines = edit.edit.lines?.map((line, index) => ({ ...line, number: first + index }))
  return lines ? { ...edit, edit: { ...edit.edit, lines } } : edit
}
