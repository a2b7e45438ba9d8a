import { LRUCache } from 'lru-cache'
import { MAX_PROOF_BYTES, readProof } from '../markdown/proof-file.ts'
import { MAX_SESSION_BYTES } from '../markdown/session-file.ts'
import { readSessionTexts, type TextsReading } from '../markdown/session-texts.ts'
import type { Proof } from '../model/proof.ts'
import type { Session, SessionTexts } from '../model/session.ts'
import type { LastGood } from './last-good.ts'
import type { Layout } from './layout.ts'
import type { RecordFile } from './record.ts'
import { decodeUtf8, readRegular } from './safe-read.ts'
import { unreadable } from './write-edit.ts'

/** The long texts of records: read when asked for, kept by the hash of the file that holds them. */
export interface Texts {
  session(caseId: string, record: RecordFile<Session | null>): Promise<TextsReading>
  proof(caseId: string, record: RecordFile<Proof | null>): Promise<string>
  /** The sections of a session that can be read as it stands; else a Refusal. */
  ofSession(caseId: string, record: RecordFile<Session | null> | undefined): Promise<SessionTexts>
}

export function createTexts(layout: Layout, lastGood: LastGood): Texts {
  const sessions = new LRUCache<string, TextsReading>({ max: 200 })
  const proofs = new LRUCache<string, string>({
    maxSize: 64 * 1024 * 1024,
    sizeCalculation: (content) => content.length + 1,
  })

  return {
    async ofSession(caseId, record) {
      const reading = record?.value && record.readable ? await this.session(caseId, record) : null
      if (reading?.value) return reading.value
      const problems = reading?.problems ?? record?.problems ?? []
      throw unreadable('the session file', { problems })
    },
    async session(caseId, record) {
      const session = record.value!
      const key = `${caseId}/${session.number}/${record.hash}`
      const known = record.readable ? sessions.get(key) : undefined
      if (known) return known
      const text = record.readable
        ? await textOf(layout, caseId, session.number)
        : await lastGood.recall(`${caseId}/sessions/${session.number}.md`)
      const reading = await readSessionTexts(text ?? '', session)
      if (record.readable && text !== null) sessions.set(key, reading)
      return reading
    },
    async proof(caseId, record) {
      const proof = record.value!
      const known = proofs.get(record.hash)
      if (known !== undefined) return known
      const path = layout.proofFile(caseId, proof.id)
      const read = await readRegular(path, {
        maxBytes: MAX_PROOF_BYTES,
        within: layout.caseFolder(caseId),
      })
      const text = read.ok ? decodeUtf8(read.bytes) : null
      const content = text?.ok ? readProof(text.text, proof).content : ''
      if (text?.ok && record.readable) proofs.set(record.hash, content)
      return content
    },
  }
}

/** The text of a session file as it stands; null when it is no readable text. */
export async function textOf(
  layout: Layout,
  caseId: string,
  number: number,
): Promise<string | null> {
  const path = layout.sessionFile(caseId, number)
  const read = await readRegular(path, {
    maxBytes: MAX_SESSION_BYTES,
    within: layout.caseFolder(caseId),
  })
  const text = read.ok ? decodeUtf8(read.bytes) : null
  return text?.ok ? text.text : null
}
