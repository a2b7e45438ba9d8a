import { LRUCache } from 'lru-cache'
import { stampOf } from '../files/safe-read.ts'
import { contentHash } from '../markdown/proof-file.ts'
import { AppError } from '../model/app-error.ts'
import type { CaseContents } from '../model/case-contents.ts'
import type { Proof } from '../model/proof.ts'
import type { Candidate, Session } from '../model/session.ts'
import { artifactPath, isArtifactOf, readArtifact } from '../runners/output/artifacts.ts'
import type { Catalog } from '../workspace/index/catalog.ts'
import type { Layout } from '../workspace/layout.ts'
import type { Texts } from '../workspace/long-texts.ts'
import { type JudgedCandidate, judgeCandidate } from './judge-candidates.ts'
import { MAX_PROOF_CONTENT_BYTES } from './proof-content.ts'

/** A file of a session that can be attached as proof. */
export interface CandidateRow extends JudgedCandidate {
  session: Session
  /** Null if the file is not on this machine. */
  size: number | null
  /** The proof with exactly its content. */
  attached: Proof | null
}

interface CandidateDeps {
  layout: Layout
  catalog: Catalog
  texts: Texts
}

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
  { layout }: Pick<CandidateDeps, 'layout'>,
  contents: CaseContents,
  session: Session,
  candidates: readonly Candidate[],
): Promise<CandidateRow[]> {
  const { case_id, number } = session
  return Promise.all(
    candidates.map(async (candidate) => {
      const { artifact } = candidate
      // the names come from the session's file, which anybody may have written
      const isOurs = isArtifactOf(artifact, number)
      const stamp = isOurs ? await stampOf(artifactPath(layout, case_id, artifact)) : null
      const row = {
        ...judgeCandidate(session, candidate),
        session,
        size: stamp?.size ?? null,
      }
      if (stamp === null || contents.proofs.length === 0) return { ...row, attached: null }
      const version = `${stamp.size} ${stamp.mtimeMs} ${stamp.ino}`
      const sha256 = await cachedHash(layout, case_id, artifact, version)
      const attached = contents.proofs.find((proof) => sha256 !== null && proof.sha256 === sha256)
      return { ...row, attached: attached ?? null }
    }),
  )
}

const hashes = new LRUCache<string, { sha256: string | null }>({ max: 500 })

/** Null for a file that can't be proof: it is no text, or too large. */
async function cachedHash(
  layout: Layout,
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

async function readText(layout: Layout, caseId: string, artifact: string): Promise<string | null> {
  try {
    return await readArtifact(layout, caseId, artifact, MAX_PROOF_CONTENT_BYTES)
  } catch (error) {
    if (error instanceof AppError) return null
    throw error
  }
}
