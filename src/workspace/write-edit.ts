/**
 * Writes one edit to one file: reads it, applies the edit to the text, replaces it durably if nobody saved it
 * meanwhile.
 */

import { join } from 'node:path'
import { stampNow } from '../files/read-now.ts'
import { mustHaveRoom } from '../files/room.ts'
import { decodeUtf8 } from '../files/safe-read.ts'
import { changedMeanwhile, type StagedFile, stageChange, stageNew } from '../files/staged-file.ts'
import { CASE_FILE, editedCase, MAX_CASE_BYTES } from '../markdown/case-file.ts'
import {
  contentHash,
  countedProof,
  MAX_PROOF_BYTES,
  newProofText,
  readProof,
} from '../markdown/proof-file.ts'
import { MAX_SESSION_BYTES } from '../markdown/session-file.ts'
import { editedSession, newSessionText } from '../markdown/session-texts.ts'
import { readTrail } from '../markdown/trail.ts'
import { AppError } from '../model/app-error.ts'
import type { Edit, FileEdit } from '../model/case-folder.ts'
import { type Session, type SessionEdit, serviceFields } from '../model/session.ts'
import { trueLines } from '../model/trail.ts'
import type { CaseEntry } from './case-entry.ts'
import { makeInnerFolder } from './case-making.ts'
import type { ChangedFile } from './history-journal.ts'
import type { FileOfCase, ReplacedFileTrackers } from './late-saves/pre-images.ts'
import type { Layout } from './layout.ts'
import { hashOf, type RecordFile } from './record.ts'
import type { TrailMemory } from './trail-memory.ts'

interface Place extends FileOfCase {
  path: string
  /** The folder that the write must not leave. */
  within: string
}

/** An edit whose file is written, but has not got its name. */
export interface StagedEdit extends StagedFile {
  path: string
  /** What its file will say. */
  text: string
}

/**
 * Makes one edit of a case on the text of its file, as range edits. A file that is not what the decision was made on
 * is `changed_meanwhile`, a broken one `unreadable_file`, and one that would be larger than is read back `too_large`.
 */
export async function stageEdit(
  layout: Layout,
  entry: CaseEntry,
  edit: FileEdit,
  { lateSaves, trails }: { lateSaves: ReplacedFileTrackers; trails: TrailMemory },
): Promise<StagedEdit> {
  const { id } = entry
  const within = layout.caseFolder(id)
  const file = fileOf(edit)
  const place = { id, file, within, path: `${within}/${file}` }
  switch (edit.file) {
    case 'case':
      return changed(place, MAX_CASE_BYTES, entry.file, lateSaves, (text, value) =>
        editedCase(text, value, edit.edit),
      )
    case 'session': {
      const record = known(entry.sessions.get(edit.number), file)
      return changed(place, MAX_SESSION_BYTES, record, lateSaves, async (text, value) => {
        const edited = await editedSession(text, value, withTrueFields(record, value, edit.edit))
        mustFit(file, edited, MAX_SESSION_BYTES)
        const after = sessionAfter(value, edit.edit, edited)
        await trails.remember(after, edited, value.trail.length)
        return edited
      })
    }
    case 'proof': {
      const record = known(entry.proofs.get(edit.id), file)
      return changed(place, MAX_PROOF_BYTES, record, lateSaves, async (text, value) => {
        // what was counted must be what the file says now
        if (contentHash(readProof(text, value).content) !== edit.counted.sha256)
          throw changedMeanwhile(place.path)
        return countedProof(text, edit.counted, edit.verification)
      })
    }
    case 'new-session': {
      await makeInnerFolder(layout.sessions(id))
      const text = await newSessionText(edit.session)
      await trails.remember(edit.session, text, 0)
      return made(place, text)
    }
    case 'new-proof': {
      const text = newProofText(edit.proof, edit.content)
      mustFit(file, text, MAX_PROOF_BYTES)
      await makeInnerFolder(layout.proofs(id))
      return made(place, text)
    }
    default:
      return edit satisfies never
  }
}

/** Where a trail is put right, so are the fields that only the service sets. */
function withTrueFields(
  { problems }: RecordFile<Session>,
  value: Session,
  edit: SessionEdit,
): SessionEdit {
  if (!problems.some(({ code }) => code === 'trail_changed')) return edit
  return { ...edit, fields: { ...serviceFields(value), ...edit.fields } }
}

/** What a session is once its file has this text. */
function sessionAfter(value: Session, edit: SessionEdit, text: string): Session {
  const lines = readTrail(text)?.lines.map((each) => each.line) ?? []
  return { ...value, ...edit.fields, trail: trueLines(lines) }
}

async function made({ path, within }: Place, text: string): Promise<StagedEdit> {
  return { ...(await stageNew(path, Buffer.from(text), { within })), path, text }
}

/** The file of an edit, relative to the case's folder. */
function fileOf(edit: FileEdit): string {
  switch (edit.file) {
    case 'case':
      return CASE_FILE
    case 'session':
      return `sessions/${edit.number}.md`
    case 'new-session':
      return `sessions/${edit.session.number}.md`
    case 'proof':
      return `proof/${edit.id}.md`
    case 'new-proof':
      return `proof/${edit.proof.id}.md`
    default:
      return edit satisfies never
  }
}

/** The file that an edit replaces or makes, as it is before. */
export function changedFile(entry: CaseEntry, edit: FileEdit): ChangedFile {
  const path = fileOf(edit)
  switch (edit.file) {
    case 'case':
      return { path, before: entry.file.hash }
    case 'session':
      return { path, before: entry.sessions.get(edit.number)?.hash ?? null }
    case 'proof':
      return { path, before: entry.proofs.get(edit.id)?.hash ?? null }
    case 'new-session':
    case 'new-proof':
      return { path, before: null }
    default:
      return edit satisfies never
  }
}

/** Refuses edits of files that cannot be read now, before any edit is made. */
export function mustBeReadable(entry: CaseEntry, edits: readonly Edit[]): void {
  for (const edit of edits) {
    if (edit.file === 'ignored-state') continue
    const record =
      edit.file === 'case'
        ? entry.file
        : edit.file === 'session'
          ? entry.sessions.get(edit.number)
          : edit.file === 'proof'
            ? entry.proofs.get(edit.id)
            : undefined
    if (record && !record.readable) throw unreadable(fileOf(edit), record)
  }
}

/** What most file systems give to a file at a time. */
const BLOCK_BYTES = 4096

/** Refuses edits that the disk has no room for, before any of them is made: what each file is, what it gets, its name. */
export function mustHaveRoomFor(caseFolder: string, edits: readonly Edit[]): Promise<void> {
  let bytes = 0
  for (const edit of edits) {
    const present =
      edit.file === 'ignored-state' ? 0 : (stampNow(join(caseFolder, fileOf(edit)))?.size ?? 0)
    const wanted = present + Buffer.byteLength(JSON.stringify(edit))
    bytes += (Math.ceil(wanted / BLOCK_BYTES) + 1) * BLOCK_BYTES
  }
  return mustHaveRoom(caseFolder, bytes, caseFolder)
}

async function changed<T>(
  place: Place,
  maxBytes: number,
  record: RecordFile<T>,
  lateSaves: ReplacedFileTrackers,
  change: (text: string, value: T) => Promise<string>,
): Promise<StagedEdit> {
  const { file, path, within } = place
  if (!record.readable) throw unreadable(file, record)
  let text = ''
  const trackerFor = (present: Buffer) => lateSaves.trackerFor(place, present, record.hash)
  const staged = await stageChange(path, { maxBytes, within, trackerFor }, async (present) => {
    if (hashOf(present) !== record.hash) throw changedMeanwhile(path)
    const before = decodeUtf8(present)
    if (!before.ok) throw unreadable(file, record)
    text = await change(before.text, record.value)
    mustFit(file, text, maxBytes)
    return Buffer.from(text)
  })
  return { ...staged, path, text }
}

/** What would be too large to be read again is not written. */
export function mustFit(file: string, text: string, maxBytes: number): void {
  const bytes = Buffer.byteLength(text)
  if (bytes <= maxBytes) return
  throw new AppError(
    'too_large',
    `${file} would have ${bytes} bytes, and at most ${maxBytes} are read. Nothing was written; put long texts into a memory file or an artifact.`,
  )
}

function known<T>(record: RecordFile<T | null> | undefined, file: string): RecordFile<T> {
  if (record?.value != null) return record as RecordFile<T>
  if (record) throw unreadable(file, record)
  throw new AppError('changed_meanwhile', `${file} is gone; nothing was written.`)
}

export function unreadable(file: string, record: Pick<RecordFile<unknown>, 'problems'>): AppError {
  const [problem] = record.problems
  const where = problem?.line ? `, line ${problem.line}` : ''
  return new AppError(
    'unreadable_file',
    `${file} cannot be read as it stands (${problem?.code}${where}: ${problem?.message}), so it is not written over. Mend it in an editor, then try again.`,
    { extra: { problem } },
  )
}
