import { setTimeout as delay } from 'node:timers/promises'
import type { Session } from '../../model/session.ts'
import type { ReadingRules } from '../../model/trust.ts'
import type { HookAnswer, HookTool } from '../../runners/agents/hooks/hook-event.ts'
import { whyChanging } from './tool-gate.ts'
import type { TurnQueues } from './turn-queues.ts'

/** A hook that decides on a call must be answered within 5 s. */
const WITHIN_MS = 3_000

const DENIED: HookAnswer = {
  is: 'denied',
  reason:
    'Casefile records how the working folder and the tests are before the first change. Try again in a few seconds.',
}

/**
 * Delays a call that may change something until the state before the work is recorded, for as long as a hook may wait.
 * Null if it may go on.
 */
export async function answerWhilePreparing(
  session: Session | null,
  turnQueues: Pick<TurnQueues, 'known'>,
  tool: HookTool,
  rules: ReadingRules,
): Promise<HookAnswer | null> {
  const turnQueue = session && turnQueues.known(session.id)
  if (!session || !turnQueue?.isPreparing()) return null
  if (whyChanging(tool, rules, session.case_id) === null) return null
  await Promise.race([turnQueue.prepared(), delay(WITHIN_MS, undefined, { ref: false })])
  return turnQueue.isPreparing() ? DENIED : null
}
