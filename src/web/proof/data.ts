import { LRUCache } from 'lru-cache'
import { yieldIfBusy } from '../../files/yielding.ts'
import type { HttpDeps } from '../../http/deps.ts'
import { etagOf } from '../../http/etag.ts'
import { jsonBody } from '../../http/json-body.ts'
import { serializeProof } from '../../http/serializers.ts'
import type { CaseContents } from '../../model/case-contents.ts'
import { countsAsVerified, type Proof } from '../../model/proof.ts'
import { acceptedDespite, objectionTo } from '../../model/proof-objections.ts'
import { excerptOf, type ProofExcerpt, proofContent } from './proof-view.tsx'
import { loadContentTests } from './report-data.ts'

/** A proof in the list of its case. */
export interface ProofRow {
  proof: Proof
  verified: boolean
  /** Why it doesn't count; null if it counts. */
  objection: string | null
  /** What an accepted proof was accepted despite; null if it would count anyway. */
  acceptedDespite: string | null
  /** The number of its session. */
  session: number | null
  /** Null for older proofs, whose content is on their own page only. */
  content: ProofPreview | null
}

/** The beginning of what a proof shows. */
interface ProofPreview {
  excerpt: ProofExcerpt
  size: number
}

const MAX_EXCERPTS = 25

const excerpts = new LRUCache<string, ProofPreview>({ max: 500 })

/** The proof of a case, or of one of its sessions, newest first. */
export async function loadProofRows(
  service: HttpDeps,
  contents: CaseContents,
  proofs: readonly Proof[] = contents.proofs,
): Promise<ProofRow[]> {
  const rows: ProofRow[] = []
  for (const proof of [...proofs].reverse()) {
    const objection = objectionTo(proof, contents.sessions)
    rows.push({
      proof,
      verified: countsAsVerified(proof),
      // a changed proof is shown as "changed since it was verified" instead
      objection: objection && objection.code !== 'changed' ? objection.text : null,
      acceptedDespite: acceptedDespite(proof, contents.sessions),
      session: contents.sessions.find(({ id }) => id === proof.session_id)?.number ?? null,
      content: rows.length < MAX_EXCERPTS ? await loadPreview(service, contents, proof) : null,
    })
  }
  return rows
}

async function loadPreview(
  service: HttpDeps,
  contents: CaseContents,
  proof: Proof,
): Promise<ProofPreview> {
  const hash = service.catalog.entry(proof.case_id)?.proofs.get(proof.id)?.hash
  // a session that fails changes what its proof is worth
  const key = JSON.stringify([hash, proof, objectionTo(proof, contents.sessions)])
  const cached = excerpts.get(key)
  if (cached) return cached
  const json = await serializeProof(service, contents, proof)
  const size = Buffer.byteLength(json.content)
  const report = await loadContentTests(service.layout, contents, json.content)
  const excerpt = await excerptOf(proofContent(json.content, report))
  await yieldIfBusy()
  const preview = { excerpt, size }
  if (hash !== undefined) excerpts.set(key, preview)
  return preview
}

/** Yields before and after, as the content may have 10 MiB. */
export async function proofEtag(json: Awaited<ReturnType<typeof serializeProof>>): Promise<string> {
  await yieldIfBusy()
  const etag = etagOf(jsonBody(json))
  await yieldIfBusy()
  return etag
}
