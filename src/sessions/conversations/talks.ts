import type { Session } from '../../model/session.ts'
import { hasEnded } from '../../model/session-state.ts'
import { lastOf } from '../../model/trail.ts'
import type { HookAnswer } from '../../runners/agents/hooks/hook-event.ts'
import type { AgentNote } from '../../runners/contract.ts'
import type { SessionDeps } from '../deps.ts'
import { openRunReport } from '../run-recorder.ts'
import { abandonedText } from './agent-messages.ts'
import { createTalk, type Talk } from './talk.ts'

const PASS: HookAnswer = { is: 'pass' }

/** The talks of the sessions that are not over. */
export interface Talks {
  of(session: Session): Talk
  known(sessionId: string): Talk | undefined
}

export function createTalks(deps: SessionDeps): Talks {
  const talks = new Map<string, { case_id: string; number: number; talk: Talk }>()

  deps.caseChanges.subscribe(({ caseId }) => {
    for (const [id, { case_id, number, talk }] of talks) {
      if (case_id !== caseId) continue
      const entry = deps.catalog.entry(caseId)
      const session = entry?.sessions.get(number)?.value
      if (!entry) end(id, talk, PASS)
      else if (session?.id === id && hasEnded(session.state)) end(id, talk, answerAtEnd(session))
    }
  })

  function end(sessionId: string, talk: Talk, answer: HookAnswer): void {
    talks.delete(sessionId)
    talk.decide(() => answer)
    talk.letGo()
    void talk.start?.contents.close().catch((error: unknown) => deps.log(String(error)))
  }

  function of(session: Session): Talk {
    const known = talks.get(session.id)
    if (known) return known.talk
    const { case_id, id, number } = session
    const report = openRunReport(deps, {
      case_id,
      session_id: id,
      number,
      ending: null,
      processes: [],
    })
    const note = (line: AgentNote) =>
      report.note(line).catch((error: unknown) => {
        deps.log(
          `a call in session ${number} of case ${case_id} was not recorded: ${String(error)}`,
        )
      })
    const talk = createTalk(number, note)
    talks.set(id, { case_id, number, talk })
    return talk
  }

  return { of, known: (id) => talks.get(id)?.talk }
}

function answerAtEnd({ state, trail }: Session): HookAnswer {
  if (state !== 'abandoned') return PASS
  const reason = lastOf(trail, 'session_state_changed')?.fields.reason
  return {
    is: 'sentBack',
    message: abandonedText(typeof reason === 'string' ? reason : undefined),
  }
}
