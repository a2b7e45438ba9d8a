import { AppError } from '../model/app-error.ts'
import type { CaseFolder } from '../model/case-folder.ts'
import type { CaseState } from '../model/case-state.ts'
import { countsAsVerified } from '../model/proof.ts'
import type { Session } from '../model/session.ts'
import { acceptedDespite, objectionTo } from '../model/support.ts'
import type { Search } from '../search/search.ts'
import type { Catalog } from '../workspace/catalog.ts'
import type { SessionDeps } from './deps.ts'

/** What became of a case that resembles another. */
export interface ResolvedCase {
  id: string
  title: string
  type: string
  state: CaseState
  outcome: string | null
  /** Why it was resolved, as the operator said. */
  reason: string | null
  /** What was taken to be its cause: the hypothesis of its last session that came to its end. */
  cause: string | null
  /** Those that count. `accepted_despite`: what speaks against one that the operator accepted with a reason. */
  proof: {
    id: string
    type: string
    verified_at: string | null
    accepted: string | null
    accepted_despite: string | null
  }[]
  /** 1 for a case with all the words of this one. */
  score: number
  /** Some of the words that both have. */
  words: string[]
}

export interface LikeDeps extends Pick<SessionDeps, 'sessionTexts'> {
  catalog: Pick<Catalog, 'folder'>
  search: Pick<Search, 'similar'>
}

/** Of a longer text the beginning says enough. */
const MAX_CAUSE = 600

/** The resolved cases that resemble this one, the most alike first, with what was learned from each. */
export async function resolvedLike(
  deps: LikeDeps,
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

async function causeOf(deps: LikeDeps, { case: of, sessions }: CaseFolder) {
  for (const session of sessions.filter(({ state }) => state === 'complete').reverse()) {
    const text = await hypothesisOf(deps, of.id, session)
    if (text !== '')
      return text.length > MAX_CAUSE ? `${text.slice(0, MAX_CAUSE).toWellFormed()}…` : text
  }
  return null
}

async function hypothesisOf(deps: LikeDeps, id: string, session: Session): Promise<string> {
  try {
    return (await deps.sessionTexts(id, session)).hypothesis.trim()
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return '' // broken by hand just now
  }
}
