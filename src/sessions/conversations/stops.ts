import type { Conversation } from '../../model/conversation.ts'
import { NO_USAGE, usageNotes } from '../../runners/agents/agent-usage.ts'
import type { HookAnswer, HookDialect, HookEvent } from '../../runners/agents/hooks/hook-event.ts'
import { transcriptMark } from '../../runners/agents/hooks/transcript.ts'
import { endedNotice, pageOf, waitingNotice } from './agent-messages.ts'
import type { Briefing } from './briefing.ts'
import type { HookRequest, KnownConversations } from './known-conversations.ts'
import type { PlanQuestions } from './plan-questions.ts'
import type { TurnQueues } from './turn-queues.ts'

const PASS: HookAnswer = { is: 'pass' }

/** The ends of an agent's turns. */
export interface Stops {
  hear(
    dialect: HookDialect,
    conversation: Conversation,
    event: Extract<HookEvent, { kind: 'stopped' }>,
    request: HookRequest,
  ): Promise<HookAnswer>
  /** Records what the agent used so far, where it tells. */
  noteUsage(
    dialect: HookDialect,
    conversation: Conversation,
    event: HookEvent,
    mode: 'plan' | 'work',
  ): Promise<void>
}

export function createStops({
  known,
  turnQueues,
  questions,
  takeMessage,
}: {
  known: KnownConversations
  turnQueues: TurnQueues
  takeMessage: Briefing['takeMessage']
  questions: Pick<PlanQuestions, 'hearPlanOfTurn' | 'approveStanding'>
}): Stops {
  const { lastSession, liveSession } = known

  async function noteUsage(
    dialect: HookDialect,
    conversation: Conversation,
    event: HookEvent,
    mode: 'plan' | 'work',
  ): Promise<void> {
    const session = liveSession(conversation)
    if (!session) return
    const used = (await dialect.usage?.(conversation.transcript, event)) ?? NO_USAGE
    const { model, ...counts } = used
    const notes = usageNotes(mode, { ...counts, model: model ?? conversation.model })
    for (const note of notes) await turnQueues.of(session).note(note)
    const { transcript } = conversation
    const fields = mode === 'work' && transcript ? await transcriptMark(transcript) : null
    if (fields) await turnQueues.of(session).note({ event: 'agent_transcript', fields })
  }

  async function hear(
    dialect: HookDialect,
    conversation: Conversation,
    event: Extract<HookEvent, { kind: 'stopped' }>,
    request: HookRequest,
  ): Promise<HookAnswer> {
    const session = liveSession(conversation)
    if (session?.state === 'approved' || session?.state === 'executing') {
      if (conversation.is_put_off) return PASS // a turn of other work
      await turnQueues.of(session).prepared()
      const message = takeMessage(conversation)
      if (message !== null) return { is: 'blocked', reason: message }
      await noteUsage(dialect, conversation, event, 'work')
      const answer = await turnQueues.of(session).stop()
      const ended = lastSession(conversation)
      if (answer.is !== 'pass' || ended?.state !== 'complete') return answer
      return { is: 'pass', notice: endedNotice(ended, pageOf(ended, request)) }
    }
    const plan = await dialect.planOfTurn?.(event)
    if (!plan) {
      const message = takeMessage(conversation)
      if (message !== null) return { is: 'blocked', reason: message }
      const isApproved = await questions.approveStanding(conversation)
      return isApproved ? hear(dialect, conversation, event, request) : PASS
    }
    const answer = await questions.hearPlanOfTurn(conversation, plan, event.wasBlocked)
    const waiting = liveSession(conversation)
    if (answer.is !== 'pass' || waiting?.state !== 'plan_ready') return answer
    return { is: 'pass', notice: waitingNotice(conversation, pageOf(waiting, request)) }
  }

  return { hear, noteUsage }
}
