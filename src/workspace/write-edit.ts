/**
 * Writes one edit to one file: reads the file, applies the edit to its text, and replaces it durably if nobody saved
 * it since.
 */

import { hashOf } from '../files/decoded.ts'
import { decodeUtf8 } from '../files/safe-read.ts'
import { changedMeanwhile, type StagedFile, stageChange, stageNew } from '../files/staged-file.ts'
import { yieldIfBusy } from '../files/yielding.ts'
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
import type { Edit, FileEdit } from '../model/case-contents.ts'
import { type Session, type SessionEdit, serviceFields } from '../model/session.ts'
import { trueLines } from '../model/trail.ts'
import { eventsOfLines } from '../model/trail-lines.ts'
import type { CaseEntry } from './case-entry.ts'
import { makeInnerFolder } from './case-making.ts'
import type { FileOfCase, ReplacedFileTrackers } from './late-saves/trackers.ts'
import type { Layout } from './layout.ts'
import { createPicture, pictureNow, removePicture } from './pictures.ts'
import type { RecordFile } from './record-file.ts'
import type { TrailMemory } from './trail-memory.ts'

interface EditedFile extends FileOfCase {
  path: string
  /** The folder that the write must not leave. */
  within: string
}

/** An edit whose file is written but not yet in place. */
export interface StagedEdit extends StagedFile {
  path: string
  /** The new text of the file. */
  text: string
}

/**
 * Stages one edit of a case as range edits of its file. Throws `changed_meanwhile` if the file is not the one the
 * decision was made on, `unreadable_file` if it is broken, and `too_large` if it would exceed the limit for reading.
 */
export async function stageEdit(
  layout: Layout,
  entry: CaseEntry,
  edit: FileEdit,
  { lateSaves, trails }: { lateSaves: ReplacedFileTrackers; trails: Pick<TrailMemory, 'begin'> },
): Promise<StagedEdit> {
  const { id } = entry
  const within = layout.caseFolder(id)
  const file = fileOf(edit)
  const place = { id, file, within, path: `${within}/${file}` }
  switch (edit.file) {
    case 'case':
      return stageChanged(place, MAX_CASE_BYTES, entry.file, lateSaves, (text, value) =>
        editedCase(text, value, edit.edit),
      )
    case 'session': {
      const record = known(entry.sessions.get(edit.number), file)
      return stageChanged(place, MAX_SESSION_BYTES, record, lateSaves, async (text, value) => {
        const edited = await editedSession(text, value, withTrueFields(record, value, edit.edit))
        mustFit(file, edited, MAX_SESSION_BYTES)
        await trails.begin(sessionAfter(value, edit.edit, edited), value.trail.length)
        return edited
      })
    }
    case 'proof': {
      const record = known(entry.proofs.get(edit.id), file)
      return stageChanged(place, MAX_PROOF_BYTES, record, lateSaves, async (text, value) => {
        // the counted content must be the current content
        const current = value.image
          ? pictureNow(layout, id, value.image.name).hash
          : contentHash(readProof(text, value).content)
        if (current !== edit.counted.sha256) throw changedMeanwhile(place.path)
        await yieldIfBusy()
        return countedProof(text, edit.counted, edit.verification)
      })
    }
    case 'new-session': {
      await makeInnerFolder(layout.sessions(id))
      const text = await newSessionText(edit.session, edit.texts)
      await trails.begin(edit.session, 0)
      return made(place, text)
    }
    case 'new-proof': {
      const text = newProofText(edit.proof, edit.content, edit.summary)
      mustFit(file, text, MAX_PROOF_BYTES)
      await makeInnerFolder(layout.proofs(id))
      const { image } = edit.proof
      if (!image || !edit.picture) return made(place, text)
      return afterPicture(layout, { id, name: image.name, bytes: edit.picture }, () =>
        made(place, text),
      )
    }
    default:
      return edit satisfies never
  }
}

/** Writes the picture of a new proof before its file, and removes it if the file cannot be written. */
async function afterPicture(
  layout: Layout,
  { id, name, bytes }: { id: string; name: string; bytes: Uint8Array },
  stage: () => Promise<StagedEdit>,
): Promise<StagedEdit> {
  await createPicture(layout, id, name, bytes)
  const orRemove = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work()
    } catch (error) {
      await removePicture(layout, id, name)
      throw error
    }
  }
  const staged = await orRemove(stage)
  return { ...staged, place: () => orRemove(staged.place) }
}

/** If the audit trail is restored, the fields that only the service sets are restored too. */
function withTrueFields(
  { problems }: RecordFile<Session>,
  value: Session,
  edit: SessionEdit,
): SessionEdit {
  if (!problems.some(({ code }) => code === 'trail_changed')) return edit
  return { ...edit, fields: { ...serviceFields(value), ...edit.fields } }
}

/** Returns the session after its file has this text. */
function sessionAfter(value: Session, edit: SessionEdit, text: string): Session {
  const lines = readTrail(text)?.lines.map((each) => each.line) ?? []
  return { ...value, ...edit.fields, trail: eventsOfLines(trueLines(lines)) }
}

async function made({ path, within }: EditedFile, text: string): Promise<StagedEdit> {
  return { ...(await stageNew(path, Buffer.from(text), { within })), path, text }
}

/** Returns the file of an edit, relative to the case folder. */
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

/** Throws `unreadable_file` if a file to edit is unreadable. Called before any edit is written. */
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

async function stageChanged<T>(
  place: EditedFile,
  maxBytes: number,
  record: RecordFile<T>,
  lateSaves: ReplacedFileTrackers,
  change: (text: string, value: T) => Promise<string>,
): Promise<StagedEdit> {
  const { file, path, within } = place
  if (!record.readable) throw unreadable(file, record)
  let text = ''
  const trackerFor = (present: Buffer) => lateSaves.trackerFor(place, present)
  const staged = await stageChange(path, { maxBytes, within, trackerFor }, async (present) => {
    if (hashOf(present) !== record.hash) throw changedMeanwhile(path)
    const before = decodeUtf8(present)
    if (!before.ok) throw unreadable(file, record)
    // each step takes a while for 10 MiB
    await yieldIfBusy()
    text = await change(before.text, record.value)
    await yieldIfBusy()
    mustFit(file, text, maxBytes)
    return Buffer.from(text)
  })
  return { ...staged, path, text }
}

/** Throws `too_large` for a file that would be too large to be read again. */
export function mustFit(file: string, text: string, maxBytes: number): void {
  const bytes = Buffer.byteLength(text)
  if (bytes <= maxBytes) return
  throw new AppError(
    'too_large',
    `${file} would have ${bytes} bytes, but the limit is ${maxBytes}. Nothing was written. Put long texts into a memory file or an artifact.`,
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
    `${file} has a problem (${problem?.code}${where}: ${problem?.message}), so it is not overwritten. Fix it in an editor, then try again.`,
    { extra: { problem } },
  )
}
