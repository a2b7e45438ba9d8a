import {
  CASE_FILE,
  MAX_CASE_BYTES,
  readCase,
  readCaseNow,
  roughCase,
} from '../markdown/case-file.ts'
import { MAX_PROOF_BYTES, readProof } from '../markdown/proof-file.ts'
import { MAX_SESSION_BYTES, readSession } from '../markdown/session-file.ts'
import type { Case } from '../model/case.ts'
import type { Problem } from '../model/problem.ts'
import type { Proof } from '../model/proof.ts'
import type { Session } from '../model/session.ts'
import { UUID } from '../model/words.ts'
import { readNow, stampNow } from './disk/read-now.ts'
import type { FileStamp } from './disk/safe-read.ts'
import { isFolderNow } from './folder-names.ts'
import { asItRuns, withKnownTrail } from './known-trail.ts'
import type { LastGood } from './last-good.ts'
import type { Layout } from './layout.ts'
import type { Look } from './look.ts'
import { createdAt, type Decoded, decoded, hashOf, isSettled, type RecordFile } from './record.ts'
import { endingOf, wholenessOf } from './wholeness.ts'

export interface ReaderNeeds {
  layout: Layout
  lastGood: LastGood
  /** Whether a session runs here, so that its trail grows by this service alone. */
  isHeld(sessionId: string): boolean
  /** Whether git made a change of this time. */
  isGits(ctimeMs: number, path?: string): boolean
}

/** How one file is read: what was known of it, and either how it is looked at or what was written there. */
export interface Reading<T> {
  known: RecordFile<T> | undefined
  look: Look | null
  /** What this service wrote there a moment ago, in place of what stands there now. */
  written?: string
  /** What that says, where it was read before it stood there. */
  parsed?: Parsed<T> | null | undefined
}

interface Recipe<T> {
  path: string
  /** Relative to the case's folder, for problems. */
  file: string
  maxBytes: number
  read(text: string, stamp: FileStamp): Promise<Parsed<T>> | Parsed<T>
  /** The best that can be said when the file says nothing and nothing was known. */
  fallback(text: string, stamp: FileStamp | null): Promise<T>
  remember?(text: string): void
}

type Parsed<T> = { value: T | null; problems: Problem[] }

/** What a changed case.md will say once it stands in its place; null where only `readCase` can tell. */
export function caseToBe(
  layout: Layout,
  id: string,
  known: RecordFile<Case> | undefined,
  text: string,
): Parsed<Case> | null {
  return emptiness(text, CASE_FILE) ? null : readCaseNow(text, originOf(layout, id, known)(null))
}

function originOf(layout: Layout, id: string, known: RecordFile<Case> | undefined) {
  return (stamp: FileStamp | null) => ({
    id,
    get created_at() {
      // of a file that was missing nothing is known
      return known?.hash ? known.value.created_at : createdAt(stamp)
    },
    isTaken: (other: string) => UUID.test(other) && isFolderNow(layout.caseFolder(other)),
  })
}

export function readCaseRecord(
  { layout, lastGood }: ReaderNeeds,
  id: string,
  reading: Reading<Case>,
): Promise<RecordFile<Case> | null> {
  const key = `${id}/${CASE_FILE}`
  const origin = originOf(layout, id, reading.known)
  return readRecord(layout.caseFolder(id), reading, {
    path: layout.caseFile(id),
    file: CASE_FILE,
    maxBytes: MAX_CASE_BYTES,
    read: (text, stamp) => readCase(text, origin(stamp)),
    async fallback(text, stamp) {
      const copy = await lastGood.recall(key)
      const value = copy === null ? null : (await readCase(copy, origin(stamp))).value
      return value ?? roughCase(text, origin(stamp))
    },
    remember: (text) => lastGood.remember(key, text),
  })
}

export function readSessionRecord(
  { layout, lastGood, isHeld, isGits }: ReaderNeeds,
  of: { id: string; title: string },
  number: number,
  reading: Reading<Session | null>,
): Promise<RecordFile<Session | null> | null> {
  const { known, written } = reading
  const file = `sessions/${number}.md`
  const key = `${of.id}/${file}`
  const origin = (stamp: FileStamp | null) => ({
    case_id: of.id,
    number,
    case_title: of.title,
    get created_at() {
      return createdAt(stamp)
    },
  })
  return readRecord<Session | null>(layout.caseFolder(of.id), reading, {
    path: layout.sessionFile(of.id, number),
    file,
    maxBytes: MAX_SESSION_BYTES,
    read(text, stamp) {
      const read = readSession(text, origin(stamp))
      if (!read.value || !known?.value) return read
      const held = isHeld(known.value.id)
      if (written !== undefined) return { ...read, value: asItRuns(read.value, held) }
      // a branch may have another session of this number, or an earlier state of it
      if (!held && (read.value.id !== known.value.id || isGits(stamp.ctimeMs))) return read
      return withKnownTrail(read.value, read.problems, known.value, held)
    },
    async fallback() {
      const copy = await lastGood.recall(key)
      return copy === null ? null : readSession(copy, origin(null)).value
    },
    remember: (text) => lastGood.remember(key, text),
  })
}

export async function readProofRecord(
  { layout }: ReaderNeeds,
  caseId: string,
  proofId: string,
  reading: Reading<Proof | null>,
): Promise<RecordFile<Proof | null> | null> {
  const record = await readRecord<Proof | null>(layout.caseFolder(caseId), reading, {
    path: layout.proofFile(caseId, proofId),
    file: `proof/${proofId}.md`,
    maxBytes: MAX_PROOF_BYTES,
    read: (text, stamp) =>
      readProof(text, {
        ...{ id: proofId, case_id: caseId },
        get created_at() {
          return createdAt(stamp)
        },
      }),
    fallback: async () => null,
  })
  // what cannot be read proves nothing, whatever it proved before
  if (!record || record.readable || !record.value) return record
  return { ...record, value: { ...record.value, intact: false } }
}

/**
 * Reads one file into its record; its value is the very one that was known when the bytes are the
 * same. A file that is still being written is left as it was known, null where it was not.
 */
async function readRecord<T>(
  folder: string,
  { known, look, written, parsed: before }: Reading<T>,
  recipe: Recipe<T>,
): Promise<RecordFile<T> | null> {
  const { path, file, maxBytes } = recipe
  const result =
    written === undefined ? decoded(readNow(path, maxBytes, folder), file) : ownWrite(path, written)
  const { stamp, hash } = result
  const mtimeMs = stamp?.mtimeMs ?? known?.mtimeMs ?? 0
  const settled = written === undefined && stamp !== null && isSettled(stamp)
  const ending = result.ok ? endingOf(result.text) : ''
  const place = { stamp: settled ? stamp : null, mtimeMs, hash, ending }
  if (known && isKnown(known, result)) {
    look?.taken(path)
    return { ...known, ...place }
  }
  const problem = result.ok ? emptiness(result.text, file) : result.problem
  const parsed: Parsed<T> =
    result.ok && !problem
      ? (before ?? (await recipe.read(result.text, result.stamp)))
      : { value: null, problems: problem ? [problem] : [] }
  const looks = parsed.value === null ? 'broken' : wholenessOf(ending, known?.ending)
  if (look && !look.take(path, newerOf(path, stamp), looks)) {
    return known ? { ...known, stamp: null } : null
  }
  if (parsed.value !== null && result.ok) {
    recipe.remember?.(result.text)
    return { ...place, value: parsed.value, readable: true, problems: parsed.problems }
  }
  const value = known ? known.value : await recipe.fallback(result.ok ? result.text : '', stamp)
  return { ...place, value, readable: false, problems: parsed.problems }
}

/** The stamp of a read is of the moment before it: what was changed since has a newer one. */
export function newerOf(path: string, stamp: FileStamp | null): () => FileStamp | null {
  return () => stampNow(path) ?? stamp
}

/** The same bytes; or still the same reason why there are none. */
export function isKnown(
  known: Pick<RecordFile<unknown>, 'hash' | 'problems'>,
  { hash, ...read }: Decoded,
): boolean {
  if (hash !== known.hash) return false
  return hash !== '' || (!read.ok && known.problems[0]?.code === read.problem.code)
}

/** An editor that saves in place empties the file first: what it says then is not what is meant. */
function emptiness(text: string, file: string): Problem | null {
  if (/[^\s\ufeff]/.test(text)) return null
  const message = 'the file is empty; what it said before is served until it says something again'
  return { code: 'unreadable', file, line: null, message }
}

/**
 * What we wrote counts as it was written: what somebody added since is looked at by the next scan,
 * as his change and not as ours. So no stamp is kept, and that scan reads the file.
 */
function ownWrite(path: string, text: string): Decoded {
  const hash = hashOf(Buffer.from(text))
  return { ok: true, text, hash, stamp: stampNow(path) ?? NO_STAMP }
}

const NO_STAMP: FileStamp = {
  size: -1,
  mtimeMs: 0,
  ctimeMs: 0,
  birthtimeMs: 0,
  ino: 0,
  dev: 0,
  mode: 0,
}
