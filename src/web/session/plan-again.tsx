import { isClosed } from '../../model/attention.ts'
import { type CaseFolder, shownState } from '../../model/case-folder.ts'
import type { Session } from '../../model/session.ts'
import { visibleText } from '../../rendering/hidden-characters.ts'
import { sessionPage } from '../shell/addresses.ts'

/** Whether planning again is what comes next: the newest session failed, and its case is not closed. */
export function mayPlanAgain({
  folder,
  session,
}: {
  folder: CaseFolder
  session: Session
}): boolean {
  const isNewest = folder.sessions.at(-1)?.id === session.id
  return session.state === 'failed' && isNewest && !isClosed(shownState(folder))
}

/** Starts a new session that has the failure of this one in its note. */
export function PlanAgain({
  session,
  objection,
}: {
  session: Pick<Session, 'id' | 'case_id'>
  /** Why the request would be refused; null if it would not. */
  objection: string | null
}) {
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
