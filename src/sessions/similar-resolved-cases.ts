import { AppError } from '../model/app-error.ts'
import type { CaseFolder } from '../model/case-folder.ts'
import type { CaseState } from '../model/case-state.ts'
import { countsAsVerified } from '../model/proof.ts'
import type { Session } from '../model/session.ts'
import { acceptedDespite, objectionTo } from '../model/support.ts'
import type { Search } from '../search/search.ts'
import type { Catalog } from '../workspace/catalog.ts'
import type { SessionDeps } from './deps.ts'

/** A resolved case that resembles another one. */
export interface ResolvedCase {
  id: string
  title: string
  type: string
  state: CaseState
  outcome: string | null
  /** Why it was resolved, in the operator's words. */
  reason: string | null
  /** Its cause, from the hypothesis of its last complete session. */
  cause: string | null
  /** Its valid proofs. `accepted_despite`: the objection to one that the operator accepted with a reason. */
  proof: {
    id: string
    type: string
    verified_at: string | null
    accepted: string | null
    accepted_despite: string | null
  }[]
  /** 1 for a case that has all the words of this one. */
  score: number
  /** Some of the shared words. */
  words: string[]
}

export interface SimilarCaseDeps extends Pick<SessionDeps, 'sessionTexts'> {
  catalog: Pick<Catalog, 'folder'>
  search: Pick<Search, 'similar'>
}

/** Longer texts are cut to this length. */
const MAX_CAUSE = 600

/** The resolved cases that resemble this one, most similar first, with what was learned from each. */
export async function similarResolvedCases(
  deps: SimilarCaseDeps,
  id: string,
  limit: number,
): Promise<ResolvedCase[]> {
  const similar = await deps.search.similar(id, limit)
  const found: ResolvedCase[] = []
  for (const { id, score, words } of similar) {
    const folder = deps.catalog.folder(id)
    if (!folder) continue // deleted meanwhile
    const { title, type, outcome, reason } = folder.case
    found.push({
      id,
      title,
      type,
      state: 'RESOLVED',
      outcome,
      reason,
      cause: await causeOf(deps, folder),
      proof: folder.proofs
        .filter((proof) => countsAsVerified(proof) && !objectionTo(proof, folder.sessions))
        .map((proof) => ({
          id: proof.id,
          type: proof.type,
          verified_at: proof.verified_at,
          accepted: proof.accepted,
          accepted_despite: acceptedDespite(proof, folder.sessions),
        })),
      score,
      words,
    })
  }
  return found
}

async function causeOf(deps: SimilarCaseDeps, { case: of, sessions }: CaseFolder) {
  for (const session of sessions.filter(({ state }) => state === 'complete').reverse()) {
    const text = await hypothesisOf(deps, of.id, session)
    if (text !== '')
      return text.length > MAX_CAUSE ? `${text.slice(0, MAX_CAUSE).toWellFormed()}…` : text
  }
  return null
}

async function hypothesisOf(deps: SimilarCaseDeps, id: string, session: Session): Promise<string> {
  try {
    return (await deps.sessionTexts(id, session)).hypothesis.trim()
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return '' // broken by hand just now
  }
}
