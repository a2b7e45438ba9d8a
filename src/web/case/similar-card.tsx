import type { HttpDeps } from '../../http/deps.ts'
import { isClosed } from '../../model/attention.ts'
import { type ResolvedCase, resolvedLike } from '../../sessions/resolved-like.ts'
import { casePage, proofPage } from '../shell/addresses.ts'
import type { CaseView } from './case-view.ts'

/** With more cases the index takes a while to make: nobody who only opens a page is to wait for it. */
const FEW_CASES = 300
const MOST = 3

/** Null where they are to be asked for first; nothing for a case that is closed itself. */
export async function similarOf(
  service: HttpDeps,
  { id, json }: CaseView,
  isAsked: boolean,
): Promise<ResolvedCase[] | null> {
  if (isClosed(json.state)) return []
  const isQuick = service.catalog.size() <= FEW_CASES || service.search.isReady()
  if (!isAsked && !isQuick) return null
  try {
    return await resolvedLike(service, id, MOST)
  } catch (error) {
    service.log(`the page of case ${id} is without what is similar: ${String(error)}`)
    return null
  }
}

/** What was learned from resolved cases like this one. */
export function SimilarCard({ id, cases }: { id: string; cases: ResolvedCase[] | null }) {
  if (cases?.length === 0) return null
  return (
    <section class="card" id="similar" aria-labelledby="similar-title">
      <header>
        <h2 id="similar-title">Resolved before</h2>
      </header>
      {cases === null ? (
        <p class="small">
          <a href={`${casePage(id)}?similar`}>Look for resolved cases like this one</a>
        </p>
      ) : (
        <ul class="plain-list">
          {cases.map((each) => (
            <Similar of={each} />
          ))}
        </ul>
      )}
    </section>
  )
}

function Similar({ of: { id, title, outcome, reason, cause, proof } }: { of: ResolvedCase }) {
  const [first] = proof
  const accepted = proof.find((each) => each.accepted_despite !== null)
  return (
    <li>
      <a href={casePage(id)}>
        <bdi>{title}</bdi>
      </a>
      <p class="small muted">
        {outcome ?? 'No outcome'}
        {first && (
          <>
            , <a href={proofPage(id, first.id)}>proved by {first.type}</a>
          </>
        )}
      </p>
      {accepted && (
        <p class="small bad-text">
          Accepted although <bdi>{accepted.accepted_despite}</bdi>: <bdi>{accepted.accepted}</bdi>
        </p>
      )}
      {(reason ?? cause) && (
        <p class="small">
          <bdi>{reason ?? cause}</bdi>
        </p>
      )}
    </li>
  )
}
