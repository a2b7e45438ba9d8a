import type { Asking } from '../../client/client.ts'
import { Refusal } from '../../model/refusal.ts'
import { EXIT, exiting } from '../exit-codes.ts'

export interface ProofJson {
  id: string
  case_id: string
  session_id: string | null
  type: string
  content: string
  verified: boolean
  verified_at: string | null
  created_at: string
}

/** The newest first. */
export async function proofsOf(client: Asking, caseId: string): Promise<ProofJson[]> {
  return (await client.ask('GET', `/cases/${caseId}/proof`)).body
}

/** The proof whose id begins so. */
export function proofNamed(proofs: readonly ProofJson[], word: string): ProofJson {
  const fitting = proofs.filter(({ id }) => id.startsWith(word.toLowerCase()))
  if (fitting.length === 1) return fitting[0]!
  const ids = (fitting.length > 0 ? fitting : proofs).map(({ id }) => id.slice(0, 8)).join(', ')
  const message =
    fitting.length > 0
      ? `${JSON.stringify(word)} begins the ids of several proofs: ${ids}. Name one by more of its id.`
      : `The case has no proof ${JSON.stringify(word)}. ${ids === '' ? 'It has none yet: casefile proof add' : `It has: ${ids}`}.`
  throw exiting(EXIT.unknown, new Refusal('not_found', message))
}
