import type { Client } from '../../client/client.ts'
import type { ProofHeadJson, ProofJson } from '../../http/schemas/proof.ts'
import { AppError } from '../../model/app-error.ts'

interface SeenProof extends Pick<ProofHeadJson, 'id' | 'case_id'> {
  /** The content that the person saw, if any. */
  content?: string
}

/**
 * Verifies a proof, and accepts it if a reason is given. Throws if the content has changed since it was shown: the
 * hash in its file does not reveal that, because editors do not update it.
 */
export async function verifySeen(
  client: Pick<Client, 'request'>,
  { id, case_id, content }: SeenProof,
  accept?: string,
): Promise<ProofJson> {
  const path = `/cases/${case_id}/proof/${id}`
  const { body: present, etag } = await client.request('GET', path)
  if ((content !== undefined && present.content !== content) || etag === null)
    throw changed(case_id, id)
  const body = accept === undefined ? undefined : { accept }
  try {
    const headers = { 'if-match': etag }
    return (await client.request('PUT', `${path}/verify`, { body, headers })).body
  } catch (error) {
    const isLate = error instanceof AppError && error.code === 'precondition_failed'
    throw isLate ? changed(case_id, id) : error
  }
}

function changed(caseId: string, id: string): AppError {
  const next = `casefile prove verify ${caseId.slice(0, 8)} ${id.slice(0, 8)}`
  return new AppError(
    'precondition_failed',
    `Proof ${id} was changed in the meantime, so it was not verified. Read it again, then: ${next}`,
  )
}
