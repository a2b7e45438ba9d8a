import type { ApiReader } from '../../client/client.ts'
import type { CaseJson, GateJson, HistoryEntryJson } from '../../http/schemas/case.ts'
import type { MemoryFileJson } from '../../http/schemas/memory.ts'
import type { ProofHeadJson, ProofJson } from '../../http/schemas/proof.ts'
import type { SessionJson } from '../../http/schemas/session.ts'
import { proofsOf, wholeProof } from './proof.ts'
import { sessionsOf } from './session.ts'

/** A case with everything that belongs to it, as the API returns it; proofs without their content. */
export interface WholeCase<P extends ProofHeadJson = ProofHeadJson> extends CaseJson {
  gate: GateJson
  sessions: SessionJson[]
  proof: P[]
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

/** The same with the content of each proof, requested one after another. */
export async function wholeCaseWithContents(
  client: ApiReader,
  id: string,
): Promise<WholeCase<ProofJson>> {
  const whole = await wholeCase(client, id)
  const proof: ProofJson[] = []
  for (const head of whole.proof) proof.push(await wholeProof(client, head))
  return { ...whole, proof }
}
