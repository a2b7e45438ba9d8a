import type { Asking } from '../../client/client.ts'
import type { CaseJson } from '../../model/case-json.ts'
import type { Gate } from '../../model/gate.ts'
import type { HistoryEntry } from '../../model/history.ts'
import { type ProofJson, proofsOf } from './proof.ts'
import { type SessionJson, sessionsOf } from './session.ts'

/** A case with all that belongs to it, as the endpoints give it. */
export interface WholeCase extends CaseJson {
  gate: Gate
  sessions: SessionJson[]
  proof: ProofJson[]
  memory: { filename: string; size: number }[]
  history: HistoryEntry[]
}

export async function wholeCase(client: Asking, id: string): Promise<WholeCase> {
  const got = (path: string) => client.ask('GET', `/cases/${id}${path}`).then(({ body }) => body)
  const [found, gate, sessions, proof, memory, history] = await Promise.all([
    ...[got(''), got('/gate')],
    ...[sessionsOf(client, id), proofsOf(client, id), got('/memory')],
    got('/history'),
  ])
  return { ...found, gate, sessions, proof, memory, history }
}
