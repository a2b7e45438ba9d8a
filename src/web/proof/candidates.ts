import { LRUCache } from 'lru-cache'
import { stampOf } from '../../files/safe-read.ts'
import type { HttpDeps } from '../../http/deps.ts'
import { contentHash } from '../../markdown/proof-file.ts'
import { AppError } from '../../model/app-error.ts'
import type { CaseFolder } from '../../model/case-folder.ts'
import type { Gate } from '../../model/gate.ts'
import type { Proof } from '../../model/proof.ts'
import type { Candidate, Session } from '../../model/session.ts'
import { artifactPath, isArtifactOf, readArtifact } from '../../runners/output/artifacts.ts'
import { isPassingNote } from '../../runners/reports/test-results.ts'
import { artifactExitCode, MAX_PROOF_CONTENT_BYTES } from '../../sessions/proof-content.ts'
import { proofTypeOf } from './proof-type.ts'

/** A file of a session that can be attached as proof. */
export interface CandidateRow extends Candidate {
  session: Session
  /** The type that proof of it usually has. */
  type: string
  /** Null if the file is not on this machine. */
  size: number | null
  /** Why proof of it would not count, as far as the session's file says; null if it would. */
  objection: string | null
  /** The proof with exactly its content. */
  attached: Proof | null
}

/** The best candidate for what the case still needs. */
export interface Suggestion {
  row: CandidateRow
  /** The descriptions of the checklist items that it would meet. */
  items: string[]
}

/** Offered if the case has no proof, and its checklist asks for none. */
const TYPES = ['test-log', 'log', 'diff']

/**
 * One candidate for each type of proof that the checklist still needs: one that would count before one that would
 * not, then of the newest session. `rows` begins with the newest session.
 */
export function suggestCandidates(rows: readonly CandidateRow[], gate: Gate): Suggestion[] {
  const waiting = gate.objections.filter(({ code }) => code === 'not_verified')
  const isAttached = (type: string) => waiting.some((each) => each.type === type)
  const offered = rows.filter(({ attached, size }) => attached === null && size !== null)
  const bestOf = (type: string) => {
    const found = offered.filter((row) => row.type === type)
    return found.find(({ objection }) => objection === null) ?? found[0]
  }
  const wanted = new Map<string, string[]>()
  const isWorse = (required: boolean) => (required ? 0 : 1)
  const items = [...gate.items].sort((a, b) => isWorse(a.required) - isWorse(b.required))
  for (const { type, description, satisfied_by } of items) {
    if (type === null || satisfied_by !== null || isAttached(type)) continue
    wanted.set(type, [...(wanted.get(type) ?? []), description])
  }
  const found = [...wanted].flatMap(([type, items]) => {
    const row = bestOf(type)
    return row ? [{ row, items }] : []
  })
  if (found.length > 0 || gate.verified > 0 || waiting.length > 0) return found
  const row = TYPES.map(bestOf).find((best) => best?.objection === null)
  return row ? [{ row, items: ['At least one verified proof'] }] : []
}

type CandidateDeps = Pick<HttpDeps, 'layout' | 'catalog' | 'texts'>

/** The candidates that the file of a session lists. */
export async function listCandidates(
  { catalog, texts }: CandidateDeps,
  { case_id, number }: Session,
): Promise<Candidate[]> {
  const record = catalog.entry(case_id)?.sessions.get(number)
  const reading = record?.value ? await texts.session(case_id, record) : null
  return reading?.value?.candidates ?? []
}

export async function loadCandidates(
  { layout }: Pick<HttpDeps, 'layout'>,
  folder: CaseFolder,
  session: Session,
  candidates: readonly Candidate[],
): Promise<CandidateRow[]> {
  const { case_id, number } = session
  return Promise.all(
    candidates.map(async ({ artifact, note }) => {
      // the names come from the session's file, which anybody may have written
      const isOurs = isArtifactOf(artifact, number)
      const stamp = isOurs ? await stampOf(artifactPath(layout, case_id, artifact)) : null
      const type = proofTypeOf(artifact)
      const row = {
        session,
        artifact,
        note,
        type,
        objection: objectionTo(session, type, { artifact, note }),
        size: stamp?.size ?? null,
      }
      if (stamp === null || folder.proofs.length === 0) return { ...row, attached: null }
      const version = `${stamp.size} ${stamp.mtimeMs} ${stamp.ino}`
      const sha256 = await cachedHash(layout, case_id, artifact, version)
      const attached = folder.proofs.find((proof) => sha256 !== null && proof.sha256 === sha256)
      return { ...row, attached: attached ?? null }
    }),
  )
}

function objectionTo(session: Session, type: string, { artifact, note }: Candidate): string | null {
  if (type === 'test-log' && !isPassingNote(note)) return note
  const exit = artifactExitCode(session, artifact)
  if (exit !== null) return `the step ended with exit code ${exit}`
  return session.state === 'failed' ? `session ${session.number} failed` : null
}

const hashes = new LRUCache<string, { sha256: string | null }>({ max: 500 })

/** Null for a file that can't be proof: it is no text, or too large. */
async function cachedHash(
  layout: HttpDeps['layout'],
  caseId: string,
  artifact: string,
  version: string,
): Promise<string | null> {
  const key = `${caseId}/${artifact} ${version}`
  const cached = hashes.get(key)
  if (cached) return cached.sha256
  const text = await readText(layout, caseId, artifact)
  const sha256 = text === null ? null : contentHash(text)
  hashes.set(key, { sha256 })
  return sha256
}

async function readText(
  layout: HttpDeps['layout'],
  caseId: string,
  artifact: string,
): Promise<string | null> {
  try {
    return await readArtifact(layout, caseId, artifact, MAX_PROOF_CONTENT_BYTES)
  } catch (error) {
    if (error instanceof AppError) return null
    throw error
  }
}
