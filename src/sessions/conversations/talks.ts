import type { Session } from '../../model/session.ts'
import { isOver } from '../../model/session-state.ts'
import { lastOf } from '../../model/trail.ts'
import type { AgentNote } from '../../runners/contract.ts'
import type { SessionDeps } from '../deps.ts'
import { openRunReport } from '../run-recorder.ts'
import { abandonedText } from './agent-messages.ts'
import { createTalk, type Talk } from './talk.ts'

/** The talks of the sessions that are not over. */
export interface Talks {
  of(session: Session): Talk
  known(sessionId: string): Talk | undefined
}

export function createTalks(deps: SessionDeps): Talks {
  const talks = new Map<string, Talk>()

  deps.changes.subscribe((change) => {
    if (change.kind !== 'session' || !change.after || !isOver(change.after.state)) return
    const { id, state, trail } = change.after
    const talk = talks.get(id)
    if (!talk) return
    talks.delete(id)
    const reason = lastOf(trail, 'session_state_changed')?.fields.reason
    const message = abandonedText(typeof reason === 'string' ? reason : undefined)
    talk.decide(() => (state === 'abandoned' ? { is: 'sentBack', message } : { is: 'pass' }))
    talk.letGo()
    void talk.start?.snapshots.close().catch((error: unknown) => deps.log(String(error)))
  })

  function of(session: Session): Talk {
    const known = talks.get(session.id)
    if (known) return known
    const { case_id, id, number } = session
    const report = openRunReport(deps, {
      case_id,
      session_id: id,
      number,
      ending: null,
      processes: [],
      runId: id,
    })
    const note = (line: AgentNote) =>
      report.note(line).catch((error: unknown) => {
        deps.log(
          `a call in session ${number} of case ${case_id} was not recorded: ${String(error)}`,
        )
      })
    const talk = createTalk(number, note)
    talks.set(id, talk)
    return talk
  }

  return { of, known: (id) => talks.get(id) }
}
