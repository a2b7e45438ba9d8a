import type { ApiReader } from '../../client/client.ts'
import type { CaseJson, GateJson, HistoryEntryJson } from '../../http/schemas/case.ts'
import type { MemoryFileJson } from '../../http/schemas/memory.ts'
import type { ProofHeadJson, ProofJson } from '../../http/schemas/proof.ts'
import type { SessionHeadJson, SessionJson } from '../../http/schemas/session.ts'
import { proofsOf, wholeProof } from './find-proof.ts'
import { sessionPath, sessionsOf } from './find-session.ts'

/** A case with everything that belongs to it, as the API returns it; sessions and proofs without their texts. */
export interface WholeCase extends CaseJson {
  gate: GateJson
  sessions: SessionHeadJson[]
  proof: ProofHeadJson[]
  memory: MemoryFileJson[]
  history: HistoryEntryJson[]
}

export async function wholeCase(client: ApiReader, id: string): Promise<WholeCase> {
  const got = (path: string) =>
    client.request('GET', `/cases/${id}${path}`).then(({ body }) => body)
  const [found, gate, sessions, proof, memory, history] = await Promise.all([
    got(''),
    got('/gate'),
    sessionsOf(client, id),
    proofsOf(client, id),
    got('/memory'),
    got('/history'),
  ])
  return { ...found, gate, sessions, proof, memory, history }
}

export interface WholeCaseWithTexts extends WholeCase {
  sessions: SessionJson[]
  proof: ProofJson[]
}

/** The same with the texts of sessions and proofs, requested one after another. */
export async function wholeCaseWithContents(
  client: ApiReader,
  id: string,
): Promise<WholeCaseWithTexts> {
  const whole = await wholeCase(client, id)
  const sessions: SessionJson[] = []
  for (const head of whole.sessions) {
    sessions.push((await client.request('GET', sessionPath(head))).body)
  }
  const proof: ProofJson[] = []
  for (const head of whole.proof) proof.push(await wholeProof(client, head))
  return { ...whole, sessions, proof }
}
