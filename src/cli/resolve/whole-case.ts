import type { ApiReader } from '../../client/client.ts'
import type { CaseJson } from '../../model/case-json.ts'
import type { Gate } from '../../model/gate.ts'
import type { HistoryEntry } from '../../model/history.ts'
import { type ProofHead, type ProofJson, proofsOf, wholeProof } from './proof.ts'
import { type SessionJson, sessionsOf } from './session.ts'

/** A case with all that belongs to it, as the endpoints give it; proof without its content. */
export interface WholeCase<P extends ProofHead = ProofHead> extends CaseJson {
  gate: Gate
  sessions: SessionJson[]
  proof: P[]
  memory: { filename: string; size: number }[]
  history: HistoryEntry[]
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

/** The same with the content of each proof, which is asked for one after the other. */
export async function wholeCaseWithContents(
  client: ApiReader,
  id: string,
): Promise<WholeCase<ProofJson>> {
  const whole = await wholeCase(client, id)
  const proof: ProofJson[] = []
  for (const head of whole.proof) proof.push(await wholeProof(client, head))
  return { ...whole, proof }
}
