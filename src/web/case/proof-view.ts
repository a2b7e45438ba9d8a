import { LRUCache } from 'lru-cache'
import { etagOf } from '../../http/etag.ts'
import { jsonBody } from '../../http/json-body.ts'
import type { HttpNeeds } from '../../http/needs.ts'
import { proofJson } from '../../http/present.ts'
import type { CaseFolder } from '../../model/case-folder.ts'
import { countsAsVerified, type Proof } from '../../model/proof.ts'
import { type Excerpt, excerptOf } from './excerpt.ts'

/** A proof in the list of its case. */
export interface ProofView {
  proof: Proof
  verified: boolean
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
export async function proofViews(service: HttpNeeds, folder: CaseFolder): Promise<ProofView[]> {
  const newest = [...folder.proofs].reverse()
  const views: ProofView[] = []
  for (const proof of newest) {
    const session = folder.sessions.find(({ id }) => id === proof.session_id)?.number ?? null
    const shown = views.length < MOST_SHOWN ? await proofText(service, proof) : null
    views.push({ proof, verified: countsAsVerified(proof), session, shown })
  }
  return views
}

async function proofText(service: HttpNeeds, proof: Proof): Promise<ProofText> {
  const hash = service.catalog.entry(proof.case_id)?.proofs.get(proof.id)?.hash
  const key = JSON.stringify([hash, proof])
  const found = known.get(key)
  if (found) return found
  const json = await proofJson(service, proof)
  const text: ProofText = {
    etag: proofEtag(json),
    size: Buffer.byteLength(json.content),
    ...excerptOf(json.content),
  }
  if (hash !== undefined) known.set(key, text)
  return text
}

export function proofEtag(json: Awaited<ReturnType<typeof proofJson>>): string {
  return etagOf(jsonBody(json))
}
