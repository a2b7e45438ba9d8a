import { CASE_FILE, MAX_CASE_BYTES, readCase, roughCase } from '../markdown/case-file.ts'
import { MAX_PROOF_BYTES, readProof } from '../markdown/proof-file.ts'
import { MAX_SESSION_BYTES, readSession } from '../markdown/session-file.ts'
import type { Case } from '../model/case.ts'
import type { Problem } from '../model/problem.ts'
import type { Proof } from '../model/proof.ts'
import type { Session } from '../model/session.ts'
import { withKnownTrail } from './known-trail.ts'
import type { LastGood } from './last-good.ts'
import type { Layout } from './layout.ts'
import { createdAt, type Decoded, decoded, hashOf, type RecordFile } from './record.ts'
import { type FileStamp, readRegular, stampOf } from './safe-read.ts'

export interface ReaderNeeds {
  layout: Layout
  lastGood: LastGood
  /** Whether a session runs here, so that its trail grows by this service alone. */
  isHeld(sessionId: string): boolean
}

interface Recipe<T> {
  path: string
  /** Relative to the case's folder, for problems. */
  file: string
  maxBytes: number
  read(text: string, stamp: FileStamp): Promise<Reading<T>> | Reading<T>
  /** The best that can be said when the file says nothing and nothing was known. */
  fallback(text: string, stamp: FileStamp | null): Promise<T>
  remember?(text: string, mtimeMs: number): void
  /** What this service wrote there a moment ago, in place of what stands there now. */
  written: string | undefined
}

type Reading<T> = { value: T | null; problems: Problem[] }

export function readCaseRecord(
  { layout, lastGood }: ReaderNeeds,
  id: string,
  known: RecordFile<Case> | undefined,
  written?: string,
): Promise<RecordFile<Case>> {
  const key = `${id}/${CASE_FILE}`
  const origin = (stamp: FileStamp | null) => ({
    id,
    created_at: known?.value.created_at ?? createdAt(stamp),
  })
  return readRecord(layout.caseFolder(id), known, {
    path: layout.caseFile(id),
    file: CASE_FILE,
    maxBytes: MAX_CASE_BYTES,
    read: (text, stamp) => readCase(text, origin(stamp)),
    async fallback(text, stamp) {
      const copy = await lastGood.recall(key)
      const value = copy === null ? null : (await readCase(copy, origin(stamp))).value
      return value ?? roughCase(text, origin(stamp))
    },
    remember: (text, mtimeMs) => lastGood.remember(key, text, mtimeMs),
    written,
  })
}

export function readSessionRecord(
  { layout, lastGood, isHeld }: ReaderNeeds,
  of: { id: string; title: string },
  number: number,
  known: RecordFile<Session | null> | undefined,
  written?: string,
): Promise<RecordFile<Session | null>> {
  const file = `sessions/${number}.md`
  const key = `${of.id}/${file}`
  const origin = (stamp: FileStamp | null) => ({
    case_id: of.id,
    number,
    case_title: of.title,
    created_at: createdAt(stamp),
  })
  return readRecord<Session | null>(layout.caseFolder(of.id), known, {
    path: layout.sessionFile(of.id, number),
    file,
    maxBytes: MAX_SESSION_BYTES,
    read(text, stamp) {
      const reading = readSession(text, origin(stamp))
      if (!reading.value || !known?.value || written !== undefined) return reading
      return withKnownTrail(reading.value, reading.problems, known.value, isHeld(known.value.id))
    },
    async fallback() {
      const copy = await lastGood.recall(key)
      return copy === null ? null : readSession(copy, origin(null)).value
    },
    remember: (text, mtimeMs) => lastGood.remember(key, text, mtimeMs),
    written,
  })
}

export async function readProofRecord(
  { layout }: ReaderNeeds,
  caseId: string,
  proofId: string,
  known: RecordFile<Proof | null> | undefined,
  written?: string,
): Promise<RecordFile<Proof | null>> {
  const record = await readRecord<Proof | null>(layout.caseFolder(caseId), known, {
    path: layout.proofFile(caseId, proofId),
    file: `proof/${proofId}.md`,
    maxBytes: MAX_PROOF_BYTES,
    read: (text, stamp) =>
      readProof(text, { id: proofId, case_id: caseId, created_at: createdAt(stamp) }),
    fallback: async () => null,
    written,
  })
  // what cannot be read proves nothing, whatever it proved before
  if (record.readable || !record.value) return record
  return { ...record, value: { ...record.value, intact: false } }
}

/** Reads one file into its record; its value is the very one that was known when the bytes are the same. */
async function readRecord<T>(
  folder: string,
  known: RecordFile<T> | undefined,
  recipe: Recipe<T>,
): Promise<RecordFile<T>> {
  const { path, file, maxBytes, written } = recipe
  const result =
    written === undefined
      ? decoded(await readRegular(path, { maxBytes, within: folder }), file)
      : await ownWrite(path, written)
  const { stamp, hash } = result
  const mtimeMs = stamp?.mtimeMs ?? known?.mtimeMs ?? 0
  const settled = written === undefined && stamp !== null && isSettled(stamp)
  const place = { stamp: settled ? stamp : null, mtimeMs, hash }
  if (known && hash !== '' && hash === known.hash) return { ...known, ...place }
  const problem = result.ok ? emptiness(result.text, file) : result.problem
  if (problem || !result.ok) {
    const value = known ? known.value : await recipe.fallback('', stamp)
    return { ...place, value, readable: false, problems: problem ? [problem] : [] }
  }
  const reading = await recipe.read(result.text, result.stamp)
  if (reading.value !== null) {
    recipe.remember?.(result.text, result.stamp.mtimeMs)
    return { ...place, value: reading.value, readable: true, problems: reading.problems }
  }
  const value = known ? known.value : await recipe.fallback(result.text, stamp)
  return { ...place, value, readable: false, problems: reading.problems }
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
async function ownWrite(path: string, text: string): Promise<Decoded> {
  const hash = hashOf(Buffer.from(text))
  return { ok: true, text, hash, stamp: (await stampOf(path)) ?? NO_STAMP }
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

/** File systems count time in ticks (4 ms and more): within one, a second change leaves no trace in the stamp. */
const TICK_MS = 50

function isSettled({ ctimeMs }: FileStamp): boolean {
  return Date.now() - ctimeMs > TICK_MS
}
