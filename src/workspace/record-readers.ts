/** Reads case.md, session files and proof files into records. */

import { isFolderNow } from '../files/folder-names.ts'
import type { FileStamp } from '../files/safe-read.ts'
import { CASE_FILE, MAX_CASE_BYTES, readCase, roughCase } from '../markdown/case-file.ts'
import { MAX_PROOF_BYTES, readProof } from '../markdown/proof-file.ts'
import { MAX_SESSION_BYTES, readSession } from '../markdown/session-file.ts'
import type { Case } from '../model/case.ts'
import { UUID } from '../model/name-patterns.ts'
import type { Problem } from '../model/problem.ts'
import type { Proof } from '../model/proof.ts'
import type { Session } from '../model/session.ts'
import type { Layout } from './layout.ts'
import { withPicture } from './pictures.ts'
import { type Reading, readRecordFile } from './read-record-file.ts'
import { createdAt, type RecordFile } from './record-file.ts'
import { asItRuns } from './trail-guard.ts'
import { type TrueTrailDeps, withTrueTrail } from './true-trail.ts'

export interface ReaderDeps extends TrueTrailDeps {
  layout: Layout
  /** Whether this process has read the case. */
  hasRead(caseId: string): boolean
  /** Called with the text of each file that was read and has changed. */
  sawText?(caseId: string, file: string, text: string, hash: string): void
}

/** What is known of a file of a case: as this process read it, or an earlier one. */
function asRead<T>({ hasRead }: ReaderDeps, id: string, reading: Reading<T>): Reading<T> {
  return hasRead(id) ? reading : { ...reading, known: undefined, last: reading.known }
}

function originOf(layout: Layout, id: string, known: RecordFile<Case> | undefined) {
  return (stamp: FileStamp | null) => ({
    id,
    get created_at() {
      // a missing file has no known creation time
      return known?.hash ? known.value.created_at : createdAt(stamp)
    },
    isTaken: (other: string) => UUID.test(other) && isFolderNow(layout.caseFolder(other)),
  })
}

export function readCaseRecord(
  deps: ReaderDeps,
  id: string,
  given: Reading<Case>,
  keepsText: boolean,
): Promise<RecordFile<Case> | null> {
  const { layout } = deps
  const reading = asRead(deps, id, given)
  const origin = originOf(layout, id, reading.known)
  return readRecordFile(layout.caseFolder(id), reading, {
    path: layout.caseFile(id),
    file: CASE_FILE,
    maxBytes: MAX_CASE_BYTES,
    read: (text, stamp) => readCase(text, origin(stamp)),
    fallback: async (text, stamp) =>
      (await readCase(text, origin(stamp))).shown ?? roughCase(text, origin(stamp)),
    keepsText,
    saw: deps.sawText?.bind(null, id, CASE_FILE),
  })
}

export function readSessionRecord(
  deps: ReaderDeps,
  of: { id: string; title: string },
  number: number,
  given: Reading<Session | null>,
): Promise<RecordFile<Session | null> | null> {
  const { layout } = deps
  const reading = asRead(deps, of.id, given)
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
  return readRecordFile<Session | null>(layout.caseFolder(of.id), reading, {
    path: layout.sessionFile(of.id, number),
    file,
    maxBytes: MAX_SESSION_BYTES,
    read(text, stamp) {
      const read = withKnownId(readSession(text, origin(stamp)), known?.value)
      const present = known?.value ?? undefined
      if (written === undefined) {
        const { ctimeMs } = stamp
        return withTrueTrail(deps, read, {
          text,
          ctimeMs,
          key,
          origin: origin(stamp),
          present,
        })
      }
      if (!read.value || !present) return read
      return { ...read, value: asItRuns(read.value, deps.isRunningHere(present.id)) }
    },
    fallback: async () => null,
    keepsText: true,
    saw: deps.sawText?.bind(null, of.id, file),
  })
}

export async function readProofRecord(
  deps: ReaderDeps,
  caseId: string,
  proofId: string,
  given: Reading<Proof | null>,
): Promise<RecordFile<Proof | null> | null> {
  const { layout } = deps
  const reading = asRead(deps, caseId, given)
  const file = `proof/${proofId}.md`
  const read = await readRecordFile<Proof | null>(layout.caseFolder(caseId), reading, {
    path: layout.proofFile(caseId, proofId),
    file,
    saw: deps.sawText?.bind(null, caseId, file),
    maxBytes: MAX_PROOF_BYTES,
    read: (text, stamp) =>
      readProof(text, {
        id: proofId,
        case_id: caseId,
        get created_at() {
          return createdAt(stamp)
        },
      }),
    fallback: async () => null,
  })
  const record = read && withPicture(layout, caseId, read)
  // an unreadable proof does not count
  if (!record || record.readable || !record.value) return record
  return { ...record, value: { ...record.value, intact: false } }
}

/**
 * Restores the known id of a session if its audit trail still begins with the same line; audit trails of older
 * versions do not contain the id. Another first line means another session, which a branch may have under this
 * number.
 */
function withKnownId(
  read: { value: Session | null; problems: Problem[] },
  known: Session | null | undefined,
): { value: Session | null; problems: Problem[] } {
  const { value, problems } = read
  const first = JSON.stringify(known?.trail[0])
  if (!value || !known || value.id === known.id) return read
  if (first === undefined || first !== JSON.stringify(value.trail[0])) return read
  const message = `id: ${value.id} was written by a person and is ignored; the id of the session is ${known.id}`
  const problem = { code: 'field_by_hand' as const, file: `sessions/${value.number}.md` }
  return {
    value: { ...value, id: known.id },
    problems: [...problems, { ...problem, line: null, message }],
  }
}
