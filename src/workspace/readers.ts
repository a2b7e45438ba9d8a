import { CASE_FILE, MAX_CASE_BYTES, readCase, roughCase } from '../markdown/case-file.ts'
import { MAX_PROOF_BYTES, readProof } from '../markdown/proof-file.ts'
import { MAX_SESSION_BYTES, readSession } from '../markdown/session-file.ts'
import type { Case } from '../model/case.ts'
import type { Problem } from '../model/problem.ts'
import type { Proof } from '../model/proof.ts'
import type { Session } from '../model/session.ts'
import type { LastGood } from './last-good.ts'
import type { Layout } from './layout.ts'
import { createdAt, decoded, type RecordFile } from './record.ts'
import { type FileStamp, readRegular } from './safe-read.ts'

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
}

type Reading<T> = { value: T | null; problems: Problem[] }

export function readCaseRecord(
  { layout, lastGood }: ReaderNeeds,
  id: string,
  known: RecordFile<Case> | undefined,
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
  })
}

export function readSessionRecord(
  { layout, lastGood, isHeld }: ReaderNeeds,
  of: { id: string; title: string },
  number: number,
  known: RecordFile<Session | null> | undefined,
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
      if (!reading.value || !known?.value) return reading
      return withKnownTrail(reading.value, reading.problems, known.value, isHeld(known.value.id))
    },
    async fallback() {
      const copy = await lastGood.recall(key)
      return copy === null ? null : readSession(copy, origin(null)).value
    },
    remember: (text, mtimeMs) => lastGood.remember(key, text, mtimeMs),
  })
}

export async function readProofRecord(
  { layout }: ReaderNeeds,
  caseId: string,
  proofId: string,
  known: RecordFile<Proof | null> | undefined,
): Promise<RecordFile<Proof | null>> {
  const record = await readRecord<Proof | null>(layout.caseFolder(caseId), known, {
    path: layout.proofFile(caseId, proofId),
    file: `proof/${proofId}.md`,
    maxBytes: MAX_PROOF_BYTES,
    read: (text, stamp) =>
      readProof(text, { id: proofId, case_id: caseId, created_at: createdAt(stamp) }),
    fallback: async () => null,
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
  const { path, file, maxBytes } = recipe
  const result = decoded(await readRegular(path, { maxBytes, within: folder }), file)
  const { stamp, hash } = result
  const mtimeMs = stamp?.mtimeMs ?? known?.mtimeMs ?? 0
  const place = { stamp: stamp && isSettled(stamp) ? stamp : null, mtimeMs, hash }
  if (known && hash !== '' && hash === known.hash) return { ...known, ...place }
  if (!result.ok) {
    const value = known ? known.value : await recipe.fallback('', stamp)
    return { ...place, value, readable: false, problems: [result.problem] }
  }
  const reading = await recipe.read(result.text, result.stamp)
  if (reading.value !== null) {
    recipe.remember?.(result.text, result.stamp.mtimeMs)
    return { ...place, value: reading.value, readable: true, problems: reading.problems }
  }
  const value = known ? known.value : await recipe.fallback(result.text, stamp)
  return { ...place, value, readable: false, problems: reading.problems }
}

/** File systems count time in ticks (4 ms and more): within one, a second change leaves no trace in the stamp. */
const TICK_MS = 50

function isSettled({ ctimeMs }: FileStamp): boolean {
  return Date.now() - ctimeMs > TICK_MS
}

/**
 * The trail of a session that runs here is the service's own, and no trail loses a line: lines that
 * a person's save removed, changed or (here) added do not count and go with the next write.
 */
function withKnownTrail(
  read: Session,
  problems: Problem[],
  known: Session,
  held: boolean,
): Reading<Session> {
  const was = known.trail.map((line) => JSON.stringify(line))
  const is = read.trail.map((line) => JSON.stringify(line))
  const kept = was.every((line, index) => line === is[index])
  if (kept && (is.length === was.length || !held)) return { value: read, problems }
  const message =
    'lines of the audit trail were changed by hand: they do not count, and the true ones are put back with the next write'
  const file = `sessions/${known.number}.md`
  return {
    value: { ...read, trail: known.trail, state: known.state },
    problems: [...problems, { code: 'trail_changed', file, line: null, message }],
  }
}
