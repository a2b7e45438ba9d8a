/** Reads the long texts of sessions and proofs on demand. */

import { LRUCache } from 'lru-cache'
import { hashOf } from '../files/decoded.ts'
import { decodeUtf8, readRegular } from '../files/safe-read.ts'
import { MAX_PROOF_BYTES, readProof } from '../markdown/proof-file.ts'
import { MAX_SESSION_BYTES } from '../markdown/session-file.ts'
import { readSessionTexts, type TextsReading } from '../markdown/session-texts.ts'
import { AppError } from '../model/app-error.ts'
import { MAX_PICTURE_BYTES, type ProofImage } from '../model/picture.ts'
import type { Proof } from '../model/proof.ts'
import type { Session, SessionTexts } from '../model/session.ts'
import type { Layout } from './layout.ts'
import type { RecordFile } from './record-file.ts'
import { unreadable } from './write-edit.ts'

/** Reads the long texts of records on demand, and caches them by the hash of the file. */
export interface Texts {
  session(caseId: string, record: RecordFile<Session | null>): Promise<TextsReading>
  proof(caseId: string, record: RecordFile<Proof | null>): Promise<string>
  /** The bytes of the picture of a proof. Throws `unreadable_file` if it is missing. */
  picture(caseId: string, image: ProofImage): Promise<Uint8Array>
  /** The sections of a session. Throws an AppError if its file is unreadable. */
  ofSession(caseId: string, record: RecordFile<Session | null> | undefined): Promise<SessionTexts>
}

export function createTexts(layout: Layout, lastText: (key: string) => string | null): Texts {
  const sessions = new LRUCache<string, TextsReading>({ max: 200 })
  const proofs = new LRUCache<string, string>({
    max: 1000, // limits the number of short texts, which mostly cost overhead
    maxSize: 64 * 1024 * 1024,
    sizeCalculation: (content) => content.length + 1,
  })

  /** The file may be newer than the record. */
  async function session(
    caseId: string,
    record: RecordFile<Session | null>,
  ): Promise<TextsReading> {
    const value = record.value!
    const { number } = value
    const file = `${caseId}/sessions/${number}.md`
    const lastTexts = () => readSessionTexts(lastText(file) ?? '', value)
    if (!record.readable) return lastTexts()
    // if somebody changed the audit trail, the same bytes are checked against another one
    const key = `${file} ${record.hash} ${value.trail.length}`
    const known = sessions.get(key)
    if (known) return known
    const read = await textAt(layout.sessionFile(caseId, number), caseId, MAX_SESSION_BYTES)
    if (!read) return { ...(await lastTexts()), problems: [] }
    const reading = await readSessionTexts(read.text, value)
    // a changed file may be another session's, so its problems do not apply
    if (read.hash !== record.hash) return { ...reading, problems: [] }
    if (reading.value !== null) sessions.set(key, reading)
    return reading
  }

  async function proof(caseId: string, record: RecordFile<Proof | null>): Promise<string> {
    const value = record.value!
    const known = proofs.get(record.hash)
    if (known !== undefined) return known
    const read = await textAt(layout.proofFile(caseId, value.id), caseId, MAX_PROOF_BYTES)
    const content = read ? readProof(read.text, value).content : ''
    if (read && record.readable) proofs.set(read.hash, content)
    return content
  }

  async function picture(caseId: string, { name }: ProofImage): Promise<Uint8Array> {
    const read = await readRegular(layout.picture(caseId, name), {
      maxBytes: MAX_PICTURE_BYTES,
      within: layout.caseFolder(caseId),
    })
    if (read.ok) return read.bytes
    const why = read.reason === 'missing' ? 'is missing' : `cannot be read (${read.reason})`
    throw new AppError(
      'unreadable_file',
      `The picture artifacts/${name} ${why}. Restore the file, or attach the picture again.`,
    )
  }

  async function ofSession(
    caseId: string,
    record: RecordFile<Session | null> | undefined,
  ): Promise<SessionTexts> {
    const reading = record?.value && record.readable ? await session(caseId, record) : null
    if (reading?.value) return reading.value
    const problems = reading?.problems ?? record?.problems ?? []
    throw unreadable('the session file', { problems })
  }

  /** Returns null if the file is not readable text. */
  async function textAt(path: string, caseId: string, maxBytes: number) {
    const read = await readRegular(path, { maxBytes, within: layout.caseFolder(caseId) })
    const text = read.ok ? decodeUtf8(read.bytes) : null
    return read.ok && text?.ok ? { text: text.text, hash: hashOf(read.bytes) } : null
  }

  return { session, proof, picture, ofSession }
}
