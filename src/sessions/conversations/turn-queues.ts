import type { Session } from '../../model/session.ts'
import { hasEnded } from '../../model/session-state.ts'
import { lastOf } from '../../model/trail.ts'
import type { HookAnswer } from '../../runners/agents/hooks/hook-event.ts'
import type { AgentNote } from '../../runners/contract.ts'
import type { SessionDeps } from '../deps.ts'
import { openRunReport } from '../run-recorder.ts'
import { abandonedText } from './agent-messages.ts'
import { createTurnQueue, type TurnQueue } from './turn-queue.ts'

const PASS: HookAnswer = { is: 'pass' }

/** The turn queues of the sessions that have not ended. */
export interface TurnQueues {
  of(session: Session): TurnQueue
  known(sessionId: string): TurnQueue | undefined
}

export function createTurnQueues(deps: SessionDeps): TurnQueues {
  const turnQueues = new Map<string, { case_id: string; number: number; turnQueue: TurnQueue }>()

  deps.caseChanges.subscribe(({ caseId }) => {
    for (const [id, { case_id, number, turnQueue }] of turnQueues) {
      if (case_id !== caseId) continue
      const entry = deps.catalog.entry(caseId)
      const session = entry?.sessions.get(number)?.value
      if (!entry) end(id, turnQueue, PASS)
      else if (session?.id === id && hasEnded(session.state))
        end(id, turnQueue, answerAtEnd(session))
    }
  })

  function end(sessionId: string, turnQueue: TurnQueue, answer: HookAnswer): void {
    turnQueues.delete(sessionId)
    turnQueue.decide(() => answer)
    turnQueue.letGo()
    void turnQueue.start?.contents.close().catch((error: unknown) => deps.log(String(error)))
  }

  function of(session: Session): TurnQueue {
    const known = turnQueues.get(session.id)
    if (known) return known.turnQueue
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
    const turnQueue = createTurnQueue(number, note)
    turnQueues.set(id, { case_id, number, turnQueue })
    return turnQueue
  }

  return { of, known: (id) => turnQueues.get(id)?.turnQueue }
}

function answerAtEnd({ state, trail }: Session): HookAnswer {
  if (state !== 'abandoned') return PASS
  const reason = lastOf(trail, 'session_state_changed')?.fields.reason
  return {
    is: 'sentBack',
    message: abandonedText(typeof reason === 'string' ? reason : undefined),
  }
}
