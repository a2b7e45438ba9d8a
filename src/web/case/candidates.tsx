import { sessionPage } from '../shell/addresses.ts'
import type { CaseView } from './case-view.ts'
import { proofTypeOf } from './proof-type.ts'

/** What the last sessions offer as proof, each attached with one click. */
export function Candidates({ view: { id, candidates, proofs } }: { view: CaseView }) {
  const offered = candidates.filter(
    ({ session }) => !proofs.some(({ proof }) => proof.session_id === session.id),
  )
  const others = candidates.filter((each) => !offered.includes(each))
  return (
    <>
      {offered.map((each) => (
        <Offer id={id} {...each} />
      ))}
      {others.length > 0 && (
        <details class="more-candidates needs-script" id="more-candidates">
          <summary class="small muted">More that sessions offer</summary>
          {others.map((each) => (
            <Offer id={id} {...each} />
          ))}
        </details>
      )}
    </>
  )
}

function Offer({ id, session, candidates }: { id: string } & CaseView['candidates'][number]) {
  return (
    <div class="offer needs-script" id={`offer-${session.number}`}>
      <p class="small muted">
        <a href={sessionPage(id, session.number)}>Session {session.number}</a> offers as proof:
      </p>
      <ul class="offer-list">
        {candidates.map(({ artifact, note }) => (
          <li>
            <span>
              <code>{artifact}</code> <span class="small muted">{note}</span>
            </span>
            <form
              id={`attach-${artifact}`}
              data-send="POST"
              action={`/cases/${id}/proof`}
              data-focus="#proof-{id} a"
            >
              <input type="hidden" name="artifact" value={artifact} />
              <input type="hidden" name="session_id" value={session.id} />
              <input type="hidden" name="type" value={proofTypeOf(artifact)} />
              <button type="submit" class="compact">
                Attach as {proofTypeOf(artifact)}
                <span class="visually-hidden">: {artifact}</span>
              </button>
            </form>
          </li>
        ))}
      </ul>
    </div>
  )
}
