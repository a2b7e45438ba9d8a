import { type EntryKind, kindsIn, proofIds, sessionNumbers } from '../files/folder-names.ts'
import { isOfFolder, readNow, stampNow } from '../files/read-now.ts'
import type { FileStamp } from '../files/safe-read.ts'
import { isTempName } from '../files/temp-files.ts'
import { CASE_FILE, MAX_CASE_BYTES, readCaseNow } from '../markdown/case-file.ts'
import { MAX_PROOF_BYTES, readProof } from '../markdown/proof-file.ts'
import { MAX_SESSION_BYTES, readSession } from '../markdown/session-file.ts'
import { isNoteName } from '../model/memory-name.ts'
import type { Problem } from '../model/problem.ts'
import type { CaseEntry } from './case-entry.ts'
import { isSameTrail } from './known-trail.ts'
import { latestIn } from './latest.ts'
import type { Layout } from './layout.ts'
import { MAX_MEMORY_BYTES } from './memory-files.ts'
import { type NoteFile, noteProblems } from './notes.ts'
import { createdAt, decoded, isSettled, type RecordFile } from './record.ts'
import { isConflictCopy } from './rescue/conflict-copy.ts'
import { endingOf } from './sync/stability.ts'
import type { TrailMemory } from './trail-memory.ts'
import { isOtherFolder, unservedNames } from './unserved-names.ts'

/** A case as `lookAtCase` would have found it, with what a start needs besides. */
export interface PlainCase {
  entry: CaseEntry
  /** Of its record files, by name relative to its folder. */
  texts: Record<string, string>
  /** Folders in it that hold no records. */
  otherFolders: string[]
}

interface Sound {
  text: string
  hash: string
  stamp: FileStamp
}

/**
 * Reads a case of which nothing is known, at once, where nothing about it is out of the ordinary: no problem, no link,
 * no trail that says something else than is remembered of it, no file that was changed only just now, nothing that a
 * service left half-made. Null of every other, which
 * `lookAtCase` reads.
 */
export function plainLook(
  layout: Layout,
  id: string,
  trails: Pick<TrailMemory, 'recall'>,
): PlainCase | null {
  const place = layout.caseFolder(id)
  const folders = new Map<string, FileStamp | null>()
  const inside = listed(place, '.', folders)
  if (inside?.get(CASE_FILE) !== 'file') return null
  if (
    [...inside].some(([name, kind]) => isOdd(name, kind) || (isNoteName(name) && kind !== 'file'))
  )
    return null
  if ([...inside].some(([name, kind]) => isOtherFolder(name, kind))) return null
  if (unservedNames('.', inside).length > 0) return null
  const texts: Record<string, string> = {}
  const file = record(soundFile(layout.caseFile(id), CASE_FILE, MAX_CASE_BYTES, place), (sound) => {
    texts[CASE_FILE] = sound.text
    return readCaseNow(sound.text, { ...originOf(sound), id, isTaken: () => true })
  })
  if (!file) return null
  const of = { case_id: id, case_title: file.value.title }
  const sessions = records(
    namesIn(inside, layout.sessions(id), 'sessions', folders, sessionNumbers),
    (number) => {
      const name = `sessions/${number}.md`
      const sound = soundFile(layout.sessionFile(id, number), name, MAX_SESSION_BYTES, place)
      return record(sound, (sound) => {
        texts[name] = sound.text
        const read = readSession(sound.text, { ...originOf(sound), ...of, number })
        const trail = read.value && trails.recall(id, read.value.id)?.lines
        return trail && !isSameTrail(trail, read.value!.trail) ? null : read
      })
    },
  )
  const proofs = records(
    namesIn(inside, layout.proofs(id), 'proof', folders, proofIds),
    (proofId) => {
      const sound = soundFile(
        layout.proofFile(id, proofId),
        `proof/${proofId}.md`,
        MAX_PROOF_BYTES,
        place,
      )
      return record(sound, (sound) =>
        readProof(sound.text, { ...originOf(sound), id: proofId, case_id: id }),
      )
    },
  )
  const notes = records(
    [...inside.keys()].filter((name) => isNoteName(name)),
    (name) => plainNote(layout.memoryFile(id, name), name, place),
  )
  if (!sessions || !proofs || !notes) return null
  return {
    entry: {
      ...{ id, file, sessions, proofs, notes, folders, problems: [] },
      ...{ vanished: false, strayLatest: false, deleted: {} },
      latest: latestOf(layout.sessions(id), inside),
    },
    texts,
    otherFolders: [...inside]
      .filter(([name, kind]) => kind === 'folder' && !(name in RECORD_FOLDERS))
      .map(([name]) => name),
  }
}

/** Where the link leads; anything else in its place is odd, and was found so before. */
function latestOf(folder: string, inside: ReadonlyMap<string, EntryKind>): string {
  return inside.get('sessions') === 'folder' ? latestIn(folder, LINK) : ''
}

const LINK: ReadonlyMap<string, EntryKind> = new Map([['latest.md', 'link']])

const RECORD_FOLDERS = { sessions: true, proof: true }

/** What stands in a folder, which gets its stamp; null where that may not tell every later change. */
function listed(
  folder: string,
  name: string,
  folders: Map<string, FileStamp | null>,
): Map<string, EntryKind> | null {
  // the stamp is taken before the names: what comes meanwhile shows in a later one
  const stamp = stampNow(folder)
  if (!stamp || !isOfFolder(stamp) || !isSettled(stamp)) return null
  const kinds = kindsIn(folder)
  if (kinds === 'hidden') return null
  folders.set(name, stamp)
  return kinds
}

/** The keys of the files in a folder of records; null where anything in it is odd. */
function namesIn<K>(
  inside: ReadonlyMap<string, EntryKind>,
  folder: string,
  name: string,
  folders: Map<string, FileStamp | null>,
  keys: (names: string[]) => K[],
): K[] | null {
  const kind = inside.get(name)
  if (kind !== 'folder') return kind === undefined ? [] : null
  const kinds = listed(folder, name, folders)
  if (!kinds) return null
  for (const [each, kind] of kinds) {
    const isLatest = each === 'latest.md'
    if (isLatest ? kind !== 'link' : kind !== 'file' || isOdd(each, kind)) return null
  }
  return unservedNames(name, kinds).length > 0 ? null : keys([...kinds.keys()])
}

function isOdd(name: string, kind: EntryKind): boolean {
  return kind === 'link' || kind === 'other' || isTempName(name) || isConflictCopy(name)
}

/** A file that says something, in UTF-8, and whose stamp tells every later change. */
function soundFile(path: string, file: string, maxBytes: number, folder: string): Sound | null {
  const read = decoded(readNow(path, maxBytes, folder), file)
  return read.ok && isSettled(read.stamp) ? read : null
}

function originOf({ stamp }: Sound): { readonly created_at: string } {
  return { created_at: createdAt(stamp) }
}

function record<T>(
  sound: Sound | null,
  read: (sound: Sound) => { value: T | null; problems: Problem[] } | null,
): RecordFile<T> | null {
  if (!sound || !/[^\s\ufeff]/.test(sound.text)) return null
  const { stamp, hash, text } = sound
  const parsed = read(sound)
  if (!parsed || parsed.value === null || parsed.problems.length > 0) return null
  const place = { stamp, mtimeMs: stamp.mtimeMs, hash, ending: endingOf(text) }
  return { ...place, value: parsed.value, readable: true, problems: [] }
}

function plainNote(path: string, file: string, folder: string): NoteFile | null {
  const sound = soundFile(path, file, MAX_MEMORY_BYTES, folder)
  if (!sound || noteProblems(sound.text, file).length > 0) return null
  const { mtimeMs } = sound.stamp
  const { stamp, hash, text } = sound
  return { stamp, mtimeMs, hash, ending: endingOf(text), problems: [] }
}

/** Null where one of them is. */
function records<K, T>(keys: K[] | null, read: (key: K) => T | null): Map<K, T> | null {
  if (!keys) return null
  const found = new Map<K, T>()
  for (const key of keys) {
    const file = read(key)
    if (!file) return null
    found.set(key, file)
  }
  return found
}
