import type { Session } from '../../model/session.ts'
import { visibleText } from '../../rendering/hidden-characters.ts'
import { sessionPage } from '../shell/addresses.ts'

/**
 * Starts a new session with this failure in its note. After one in a terminal, the next prompt there begins a session,
 * and the service starts no agent.
 */
export function PlanAgain({
  session,
  objection,
}: {
  session: Pick<Session, 'id' | 'case_id' | 'origin'>
  /** Why the request would be rejected; null if it would not. */
  objection: string | null
}) {
  if (session.origin === 'terminal') return null
  return (
    <form
      class="plan-again needs-script"
      data-send="POST"
      action={`/cases/${session.case_id}/sessions`}
      data-then={sessionPage(session.case_id, '{number}')}
    >
      <input type="hidden" name="again" value={session.id} />
      {objection !== null && <p class="plan-again-objection">{visibleText(objection)}</p>}
      <button type="submit" class="primary" disabled={objection !== null}>
        Plan again
      </button>
    </form>
  )
}
