import type { Client } from '../../client/client.ts'
import { Refusal } from '../../model/refusal.ts'
import type { ProofJson } from '../named/proof.ts'

/**
 * Verifies a proof for what it said when it was answered. One whose content is another by now is
 * refused: the hash in its file would not tell, for whoever edits the file need not know of it.
 */
export async function verifySeen(
  client: Pick<Client, 'ask'>,
  { id, case_id, content }: Pick<ProofJson, 'id' | 'case_id' | 'content'>,
): Promise<ProofJson> {
  const path = `/cases/${case_id}/proof/${id}`
  const { body: present, etag } = await client.ask('GET', path)
  if (present.content !== content || etag === null) throw changed(case_id, id)
  try {
    return (await client.ask('PUT', `${path}/verify`, { headers: { 'if-match': etag } })).body
  } catch (error) {
    const isLate = error instanceof Refusal && error.code === 'precondition_failed'
    throw isLate ? changed(case_id, id) : error
  }
}

function changed(caseId: string, id: string): Refusal {
  const next = `casefile proof verify ${caseId.slice(0, 8)} ${id.slice(0, 8)}`
  return new Refusal(
    'precondition_failed',
    `Proof ${id} was changed meanwhile, so it was not verified. Read what it says now, then: ${next}`,
  )
}
