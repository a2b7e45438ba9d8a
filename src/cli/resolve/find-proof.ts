import type { ApiReader } from '../../client/client.ts'
import { allOf } from '../../client/pages.ts'
import type { ProofHeadJson, ProofJson } from '../../http/schemas/proof.ts'
import { AppError } from '../../model/app-error.ts'
import { EXIT, exiting } from '../output/exit-codes.ts'

/** The proofs of a case, newest first, without their contents, which may be large. */
export function proofsOf(client: ApiReader, caseId: string): Promise<ProofHeadJson[]> {
  return allOf(client, `/cases/${caseId}/proof?content=false`)
}

/** One proof with its content. */
export async function wholeProof(
  client: ApiReader,
  { case_id, id }: Pick<ProofHeadJson, 'case_id' | 'id'>,
): Promise<ProofJson> {
  return (await client.request('GET', `/cases/${case_id}/proof/${id}`)).body
}

/** The proof whose id begins with `word`. */
export function resolveProof(proofs: readonly ProofHeadJson[], word: string): ProofHeadJson {
  const fitting = proofs.filter(({ id }) => id.startsWith(word.toLowerCase()))
  if (fitting.length === 1) return fitting[0]!
  const ids = (fitting.length > 0 ? fitting : proofs).map(({ id }) => id.slice(0, 8)).join(', ')
  const message =
    fitting.length > 0
      ? `${JSON.stringify(word)} matches several proofs: ${ids}. Use more of the id.`
      : `The case has no proof ${JSON.stringify(word)}. ${ids === '' ? 'It has none yet: casefile prove add' : `It has: ${ids}`}.`
  throw exiting(EXIT.unknown, new AppError('not_found', message))
}
