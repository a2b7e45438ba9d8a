/** Turns what was read and published of a case into its rows in casefile.db, and back. */

import { statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { CASE_FILE } from '../../markdown/case-file.ts'
import type { FileHashes, Reading, ReadProof } from '../../model/changes.ts'
import { isToBeStamped } from '../../model/proof.ts'
import { isSealed, type Session } from '../../model/session.ts'
import { isActive } from '../../model/session-state.ts'
import type { RecordRow } from '../../state/record-rows.ts'
import type { CaseEntry } from '../case-entry.ts'
import { isLatestWrong } from '../latest.ts'
import type { NoteFile } from '../notes.ts'
import type { RecordFile } from '../record-file.ts'

/** Version of the rows. */
const FORMAT = 11

/** Identifies the format of the rows. They belong to one build, as another may read the same files differently. */
export function recordFormat(version: string): string {
  const own = statSync(fileURLToPath(import.meta.url), { throwIfNoEntry: false })
  return JSON.stringify([FORMAT, version, own?.mtimeMs])
}

type Records<K> = Map<K, RecordFile<unknown> | NoteFile>

const RECORD_FILE = /^(sessions|proof)\/(.*)\.md$/

/** What was read of a file, named relative to the folder of the case. */
export function fileIn(entry: CaseEntry, name: string): RecordFile<unknown> | NoteFile | undefined {
  const [, folder, key = ''] = RECORD_FILE.exec(name) ?? []
  if (folder === 'sessions') return entry.sessions.get(Number(key))
  if (folder === 'proof') return entry.proofs.get(key)
  return name === CASE_FILE ? entry.file : entry.notes.get(name)
}

/** Returns rows for the files that were read again since `stored`, and the names of files that are gone. */
export function changedRecords(
  stored: CaseEntry | null,
  entry: CaseEntry,
): { changed: RecordRow[]; gone: string[] } {
  const changed: RecordRow[] = []
  const gone: string[] = []
  const compare = <K>(was: Records<K> | undefined, is: Records<K>, nameOf: (key: K) => string) => {
    if (was === is) return
    for (const [key, file] of is) {
      if (was?.get(key) === file) continue
      const { text = null, ...record } = file as RecordFile<unknown>
      changed.push({ file: nameOf(key), record: JSON.stringify(record), text })
    }
    for (const key of was?.keys() ?? []) if (!is.has(key)) gone.push(nameOf(key))
  }
  const caseFile = (of: CaseEntry | null) => new Map(of && [[CASE_FILE, of.file]])
  compare(caseFile(stored), caseFile(entry), (name) => name)
  compare(stored?.sessions, entry.sessions, (number) => `sessions/${number}.md`)
  compare(stored?.proofs, entry.proofs, (id) => `proof/${id}.md`)
  compare(stored?.notes, entry.notes, (name) => name)
  return { changed, gone }
}

/** What was published that does not follow from the files, as they may be read again in another process. */
type Published = Pick<Reading, 'state' | 'problems' | 'causes'> & {
  /** Of files that cannot be read now. */
  proofs: [id: string, ReadProof][]
  notes: [name: string, hash: string][]
}

export function encodeFolder(entry: CaseEntry, published: Reading): string {
  const { file: _, sessions: __, proofs, notes, folders, vanished: ___, ...others } = entry
  const { state, problems, causes } = published
  return JSON.stringify({
    ...others,
    folders: [...folders],
    published: {
      state,
      problems,
      causes,
      proofs: [...published.proofs].filter(([id]) => proofs.get(id)?.hash === ''),
      notes: [...published.notes].filter(([name]) => notes.get(name)?.hash === ''),
    } satisfies Published,
  })
}

/** The case without its files, which `addRecords` adds. */
export function decodeFolder(folder: string) {
  const { published, folders, ...others } = JSON.parse(folder) as CaseEntry & {
    published: Published
  }
  const entry: CaseEntry = {
    ...others,
    folders: new Map(folders),
    sessions: new Map(),
    proofs: new Map(),
    notes: new Map(),
    vanished: false,
  }
  return { entry, published }
}

export function addRecords(entry: CaseEntry, records: readonly Omit<RecordRow, 'text'>[]): void {
  for (const { file, record } of records) {
    const value = JSON.parse(record)
    const [, part, name] = RECORD_FILE.exec(file) ?? []
    if (file === CASE_FILE) entry.file = value
    else if (part === 'sessions') entry.sessions.set(Number(name), value)
    else if (part === 'proof') entry.proofs.set(name!, value)
    else entry.notes.set(file, value)
  }
}

export function fileHashes(entry: CaseEntry): FileHashes {
  return {
    isCaseReadable: entry.file.readable,
    proof: (id) => entry.proofs.get(id)?.hash ?? '',
    notes: noteHashes(entry),
  }
}

const lastHashes = new WeakMap<CaseEntry['notes'], Map<string, string>>()

export function noteHashes({ notes }: CaseEntry): Map<string, string> {
  const last = lastHashes.get(notes)
  if (last) return last
  const hashes = new Map([...notes].map(([name, { hash }]) => [name, hash]))
  lastHashes.set(notes, hashes)
  return hashes
}

/** Problems that depend on more than the file. */
const DEPENDENT: readonly string[] = [
  'trail_changed',
  'field_by_hand',
  'duplicate_id',
  'id_mismatch',
]

/** Whether a start must read this file again, whatever its stamp. */
function isUncertain({ readable, problems }: RecordFile<unknown>): boolean {
  return !readable || problems.some(({ code }) => DEPENDENT.includes(code))
}

/** The case as a start reads it: without the stamps of uncertain files, or of all. */
export function toReadAgain(entry: CaseEntry, all: boolean): CaseEntry {
  const again = <T extends RecordFile<unknown>>(file: T): T =>
    all || isUncertain(file) ? { ...file, stamp: null } : file
  const each = <K, T extends RecordFile<unknown>>(files: Map<K, T>) =>
    new Map([...files].map(([key, file]) => [key, again(file)]))
  return {
    ...entry,
    file: again(entry.file),
    sessions: each(entry.sessions),
    proofs: each(entry.proofs),
    folders: all ? new Map() : entry.folders,
  }
}

/**
 * Whether the files say all about the case, so that a start need not look at it if they are unchanged: nothing runs,
 * and nothing that a person wrote waits for the service.
 */
export function isAtRest(entry: CaseEntry): boolean {
  const { file, sessions, proofs, notes, vanished } = entry
  return (
    !vanished &&
    !isLatestWrong(entry) &&
    ![file, ...sessions.values(), ...proofs.values()].some(isUncertain) &&
    [...notes.values()].every(({ hash }) => hash !== '') &&
    [...proofs.values()].every(({ value }) => !value || !isToBeStamped(value)) &&
    [...sessions.values()].every(({ value }) => value && canNotChange(value))
  )
}

/** Whether nothing runs for the session and no edit by a person waits for the service. */
function canNotChange(session: Session): boolean {
  const { state, byHand } = session
  if (byHand !== undefined || isActive(state) || state === 'plan_ready') return false
  return state !== 'complete' || isSealed(session)
}
