import { LRUCache } from 'lru-cache'
import { yieldIfBusy } from '../../files/yielding.ts'
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
  const etag = await proofEtag(json)
  const size = Buffer.byteLength(json.content)
  const excerpt: ProofExcerpt = { ...cutToExcerpt(json.content), etag, size }
  await yieldIfBusy()
  if (hash !== undefined) excerpts.set(key, excerpt)
  return excerpt
}

/** Yields before and after, as the content may have 10 MiB. */
export async function proofEtag(json: Awaited<ReturnType<typeof serializeProof>>): Promise<string> {
  await yieldIfBusy()
  const etag = etagOf(jsonBody(json))
  await yieldIfBusy()
  return etag
}

const MAX_LINES = 14
const [FIRST, LAST] = [6, 6]
const MAX_LINE = 240

/** Makes no string for each line, as there may be millions. */
function cutToExcerpt(text: string): Pick<ProofExcerpt, 'first' | 'left' | 'last' | 'isComplete'> {
  const whole = text.trimEnd()
  let count = 1
  for (let at = whole.indexOf('\n'); at >= 0; at = whole.indexOf('\n', at + 1)) count++
  if (count <= MAX_LINES) {
    const isComplete = linesOf(whole).every((line) => line.length <= MAX_LINE)
    return { first: cutLines(whole), left: 0, last: '', isComplete }
  }
  let [end, start] = [-1, whole.length]
  for (let n = 0; n < FIRST; n++) end = whole.indexOf('\n', end + 1)
  for (let n = 0; n < LAST; n++) start = whole.lastIndexOf('\n', start - 1)
  return {
    first: cutLines(whole.slice(0, end)),
    left: count - FIRST - LAST,
    last: cutLines(whole.slice(start + 1)),
    isComplete: false,
  }
}

function linesOf(text: string): string[] {
  return text.split('\n').map((line) => line.replace(/\r$/, ''))
}

function cutLines(text: string): string {
  const cut = (line: string) => `${line.slice(0, MAX_LINE).toWellFormed()} …`
  return linesOf(text)
    .map((line) => (line.length > MAX_LINE ? cut(line) : line))
    .join('\n')
}
