import { closeSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { CASE_FILE, editedCase, MAX_CASE_BYTES } from '../markdown/case-file.ts'
import {
  contentHash,
  MAX_PROOF_BYTES,
  newProofText,
  readProof,
  verifiedProof,
} from '../markdown/proof-file.ts'
import { MAX_SESSION_BYTES } from '../markdown/session-file.ts'
import { editedSession, newSessionText } from '../markdown/session-texts.ts'
import type { Edit, FileEdit } from '../model/case-folder.ts'
import { Refusal } from '../model/refusal.ts'
import type { CaseEntry } from './case-entry.ts'
import { makeInnerFolder } from './case-making.ts'
import { openRegular, readDescriptor } from './disk/descriptors.ts'
import { type Placed, placeDurable, placeNewDurable } from './disk/durable-write.ts'
import { pinFolder } from './disk/pinned-folder.ts'
import { decodeUtf8 } from './disk/safe-read.ts'
import type { Layout } from './layout.ts'
import { hashOf, type RecordFile } from './record.ts'
import type { FileOfCase, Keepers } from './rescue/pre-images.ts'

interface Place extends FileOfCase {
  path: string
  /** The folder that the write must not leave. */
  within: string
}

/** An edit made on the text of its file, and still to be written. */
export interface PreparedEdit extends Place {
  text: string
  /** What must stand there still; null where nothing may. */
  present: Buffer | null
}

/**
 * Makes one edit of a case on the text of its file, as range edits. A file that is not what the
 * decision was made on is `changed_meanwhile`, a broken one `unreadable_file`, and one that would be
 * larger than is read back `too_large`.
 */
export async function prepareEdit(
  layout: Layout,
  entry: CaseEntry,
  edit: FileEdit,
): Promise<PreparedEdit> {
  const { id } = entry
  const within = layout.caseFolder(id)
  const file = fileOf(edit)
  const place = { id, file, within, path: join(within, file) }
  switch (edit.file) {
    case 'case':
      return changed(place, MAX_CASE_BYTES, entry.file, (text, value) =>
        editedCase(text, value, edit.edit),
      )
    case 'session': {
      const record = known(entry.sessions.get(edit.number), file)
      return changed(place, MAX_SESSION_BYTES, record, (text, value) =>
        editedSession(text, value, edit.edit),
      )
    }
    case 'proof': {
      const record = known(entry.proofs.get(edit.id), file)
      return changed(place, MAX_PROOF_BYTES, record, async (text, value) => {
        const { content } = readProof(text, value)
        return verifiedProof(text, edit.verified_at, contentHash(content))
      })
    }
    case 'new-session':
      await makeInnerFolder(layout.sessions(id))
      return { ...place, text: await newSessionText(edit.session), present: null }
    case 'new-proof': {
      const text = newProofText(edit.proof, edit.content)
      mustFit(file, text, MAX_PROOF_BYTES)
      await makeInnerFolder(layout.proofs(id))
      return { ...place, text, present: null }
    }
    default:
      return edit satisfies never
  }
}

/** Puts a prepared edit in its place, if what it was made on still stands there. */
export async function placePrepared(prepared: PreparedEdit, secondLook: Keepers): Promise<Placed> {
  const { path, text, present, within } = prepared
  const bytes = Buffer.from(text)
  if (present === null) return placeNewDurable(path, bytes, { within })
  if (present.equals(bytes)) return { synced: Promise.resolve() }
  const keeper = secondLook.keeperOf(prepared, present)
  return placeDurable(path, bytes, { expect: present, keeper, within })
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

/** Refuses edits of files that cannot be written over as they stand, before any of them is made. */
export function mustBeReadable(entry: CaseEntry, edits: readonly Edit[]): void {
  for (const edit of edits) {
    if (edit.file === 'held-state') continue
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

async function changed<T>(
  place: Place,
  maxBytes: number,
  record: RecordFile<T>,
  change: (text: string, value: T) => Promise<string>,
): Promise<PreparedEdit> {
  const { file } = place
  if (!record.readable) throw unreadable(file, record)
  const present = bytesAt(place, maxBytes)
  if (!present || hashOf(present) !== record.hash) {
    throw new Refusal(
      'changed_meanwhile',
      `${file} was changed by somebody else meanwhile; nothing was written. Try again.`,
    )
  }
  const before = decodeUtf8(present)
  if (!before.ok) throw unreadable(file, record)
  const text = await change(before.text, record.value)
  mustFit(file, text, maxBytes)
  return { ...place, text, present }
}

/** What a regular file in its place holds now: at once, as by way of the thread pool it takes ten times as long. */
function bytesAt({ path, within }: Place, maxBytes: number): Buffer | null {
  const open = new Set<number>()
  try {
    const folder = pinFolder(dirname(path), within)
    try {
      const file = openRegular(join(folder.path, basename(path)), open)
      return file && readDescriptor(file, maxBytes)
    } finally {
      folder.close()
    }
  } catch (error) {
    if (error instanceof Refusal || (error instanceof Error && 'syscall' in error)) return null
    throw error
  } finally {
    for (const fd of open) closeSync(fd)
  }
}

/** What would be too large to be read again is not written. */
export function mustFit(file: string, text: string, maxBytes: number): void {
  const bytes = Buffer.byteLength(text)
  if (bytes <= maxBytes) return
  throw new Refusal(
    'too_large',
    `${file} would have ${bytes} bytes, and at most ${maxBytes} are read. Nothing was written; put long texts into a memory file or an artifact.`,
  )
}

function known<T>(record: RecordFile<T | null> | undefined, file: string): RecordFile<T> {
  if (record?.value != null) return record as RecordFile<T>
  if (record) throw unreadable(file, record)
  throw new Refusal('changed_meanwhile', `${file} is gone; nothing was written.`)
}

export function unreadable(file: string, record: Pick<RecordFile<unknown>, 'problems'>): Refusal {
  const [problem] = record.problems
  const where = problem?.line ? `, line ${problem.line}` : ''
  return new Refusal(
    'unreadable_file',
    `${file} cannot be read as it stands (${problem?.code}${where}: ${problem?.message}), so it is not written over. Mend it in an editor, then try again.`,
    { extra: { problem } },
  )
}
