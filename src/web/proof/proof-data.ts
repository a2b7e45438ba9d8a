import { LRUCache } from 'lru-cache'
import type { HttpDeps } from '../../http/deps.ts'
import { etagOf } from '../../http/etag.ts'
import { jsonBody } from '../../http/json-body.ts'
import { serializeProof } from '../../http/serializers.ts'
import type { CaseFolder } from '../../model/case-folder.ts'
import { countsAsVerified, type Proof } from '../../model/proof.ts'
import { acceptedDespite, objectionTo } from '../../model/support.ts'

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
  content: ProofExcerpt | null
}

/** The first and last lines of a proof: the end of a test report matters most. */
export interface ProofExcerpt {
  first: string
  /** The number of lines left out between them. */
  left: number
  last: string
  isComplete: boolean
  /** Of the JSON of `GET …/proof/:pid`. */
  etag: string
  size: number
}

const MAX_EXCERPTS = 25

const excerpts = new LRUCache<string, ProofExcerpt>({ max: 500 })

/** The proof of a case, newest first. */
export async function loadProofRows(service: HttpDeps, folder: CaseFolder): Promise<ProofRow[]> {
  const rows: ProofRow[] = []
  for (const proof of [...folder.proofs].reverse()) {
    const objection = objectionTo(proof, folder.sessions)
    rows.push({
      proof,
      verified: countsAsVerified(proof),
      // a changed proof is shown as "changed since it was verified" instead
      objection: objection && objection.code !== 'changed' ? objection.text : null,
      acceptedDespite: acceptedDespite(proof, folder.sessions),
      session: folder.sessions.find(({ id }) => id === proof.session_id)?.number ?? null,
      content: rows.length < MAX_EXCERPTS ? await loadExcerpt(service, folder, proof) : null,
    })
  }
  return rows
}

async function loadExcerpt(
  service: HttpDeps,
  folder: CaseFolder,
  proof: Proof,
): Promise<ProofExcerpt> {
  const hash = service.catalog.entry(proof.case_id)?.proofs.get(proof.id)?.hash
  // a session that fails changes what its proof is worth, and so the ETag
  const key = JSON.stringify([hash, proof, objectionTo(proof, folder.sessions)])
  const cached = excerpts.get(key)
  if (cached) return cached
  const json = await serializeProof(service, folder, proof)
  const excerpt: ProofExcerpt = {
    ...cutToExcerpt(json.content),
    etag: proofEtag(json),
    size: Buffer.byteLength(json.content),
  }
  if (hash !== undefined) excerpts.set(key, excerpt)
  return excerpt
}

export function proofEtag(json: Awaited<ReturnType<typeof serializeProof>>): string {
  return etagOf(jsonBody(json))
}

const MAX_LINES = 14
const [FIRST, LAST] = [6, 6]
const MAX_LINE = 240

function cutToExcerpt(text: string): Pick<ProofExcerpt, 'first' | 'left' | 'last' | 'isComplete'> {
  const lines = text.trimEnd().split(/\r?\n/)
  const isLong = lines.length > MAX_LINES
  const [first, last] = isLong ? [lines.slice(0, FIRST), lines.slice(-LAST)] : [lines, []]
  return {
    first: first.map(cutLine).join('\n'),
    left: isLong ? lines.length - FIRST - LAST : 0,
    last: last.map(cutLine).join('\n'),
    isComplete: !isLong && lines.every((line) => line.length <= MAX_LINE),
  }
}

function cutLine(line: string): string {
  return line.length > MAX_LINE ? `${line.slice(0, MAX_LINE).toWellFormed()} …` : line
}
