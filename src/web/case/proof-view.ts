import { LRUCache } from 'lru-cache'
import type { HttpDeps } from '../../http/deps.ts'
import { etagOf } from '../../http/etag.ts'
import { jsonBody } from '../../http/json-body.ts'
import { serializeProof } from '../../http/serializers.ts'
import type { CaseFolder } from '../../model/case-folder.ts'
import { countsAsVerified, type Proof } from '../../model/proof.ts'
import { acceptedDespite, objectionTo } from '../../model/support.ts'
import { type Excerpt, excerptOf } from './excerpt.ts'

/** A proof in the list of its case. */
export interface ProofView {
  proof: Proof
  verified: boolean
  /** Why it supports nothing; null where it supports its claim. */
  whyNot: string | null
  /** What speaks against one that was accepted; null where nothing does. */
  despite: string | null
  /** The number of the session that it is for. */
  session: number | null
  /** Null for those further back, whose content is on their own page. */
  shown: ProofText | null
}

/** What is told of the content without showing all of it. */
export interface ProofText extends Excerpt {
  /** Of the JSON that `GET …/proof/:pid` answers. */
  etag: string
  size: number
}

const MOST_SHOWN = 25

const known = new LRUCache<string, ProofText>({ max: 500 })

/** The proof of a case, newest first. */
export async function proofViews(service: HttpDeps, folder: CaseFolder): Promise<ProofView[]> {
  const newest = [...folder.proofs].reverse()
  const views: ProofView[] = []
  for (const proof of newest) {
    const session = folder.sessions.find(({ id }) => id === proof.session_id)?.number ?? null
    const shown = views.length < MOST_SHOWN ? await proofText(service, folder, proof) : null
    const objection = objectionTo(proof, folder.sessions)
    // that it was changed is said where others say whether they are verified
    const whyNot = objection && objection.code !== 'changed' ? objection.text : null
    const despite = acceptedDespite(proof, folder.sessions)
    views.push({ proof, verified: countsAsVerified(proof), session, shown, whyNot, despite })
  }
  return views
}

async function proofText(service: HttpDeps, folder: CaseFolder, proof: Proof): Promise<ProofText> {
  const hash = service.catalog.entry(proof.case_id)?.proofs.get(proof.id)?.hash
  // a session that fails changes what its proof is worth, and so the ETag
  const key = JSON.stringify([hash, proof, objectionTo(proof, folder.sessions)])
  const found = known.get(key)
  if (found) return found
  const json = await serializeProof(service, folder, proof)
  const text: ProofText = {
    etag: proofEtag(json),
    size: Buffer.byteLength(json.content),
    ...excerptOf(json.content),
  }
  if (hash !== undefined) known.set(key, text)
  return text
}

export function proofEtag(json: Awaited<ReturnType<typeof serializeProof>>): string {
  return etagOf(jsonBody(json))
}
