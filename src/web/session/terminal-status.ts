import type { PlanReading } from '../../markdown/plan-steps.ts'
import type { Conversation } from '../../model/conversation.ts'
import type { Session } from '../../model/session.ts'
import { isOver } from '../../model/session-state.ts'
import { isUngated } from '../../model/ungated-conversation.ts'
import type { StepRow } from './step-rows.ts'

/** The conversation that a session in a terminal records, as this machine knows it. */
export interface TerminalFacts {
  /** Null if it is not known here, or records a later session by now. */
  conversation: Conversation | null
  /** Its folder, relative to the workspace where it lies there. */
  folder: string
  /** No hook was heard that can deny a tool call. */
  isUngated: boolean
}

/** Null for a session whose agent the service starts. */
export function terminalFacts(
  session: Session,
  conversation: Conversation | null,
  shownFolder: (folder: string) => string,
): TerminalFacts | null {
  if (session.origin !== 'terminal') return null
  return {
    conversation,
    folder: conversation === null ? '' : shownFolder(conversation.folder),
    isUngated:
      conversation !== null && !isOver(session.state) && isUngated(conversation, session.trail),
  }
}

/** Why the plan can be neither approved nor sent back; null if it can. */
export function terminalObjection({ conversation }: TerminalFacts): string | null {
  return conversation === null
    ? "This machine doesn't know the conversation of this session, so nothing can carry out its plan. Abandon the session."
    : null
}

/** What the operator does about a plan that waits. */
export function waitingText({ conversation }: TerminalFacts): string {
  if (conversation?.ended_at) {
    return 'The conversation with the agent has ended. Resume it in the terminal, or abandon this session.'
  }
  return conversation?.is_strict
    ? 'The agent waits in its terminal. Only an approval in Casefile counts.'
    : 'The agent waits in its terminal. You can also answer there; the first answer counts.'
}

export function planningText({ isUngated }: TerminalFacts): string {
  return isUngated ? '' : "It can't change anything until you approve its plan."
}

/** When the work is checked, and how the last check ended. */
export function workingText(
  { steps }: Pick<PlanReading, 'steps'>,
  rows: readonly StepRow[],
): string {
  const proving = steps.filter(({ proof }) => proof !== null)
  if (proving.length === 0) return 'The session is complete once it stops.'
  const names = proving.map(({ id }) => id).join(', ')
  const failed = rows.filter(({ plan, state }) => plan !== null && state === 'failed')
  const last =
    failed.length > 0 ? ` At its last stop, ${failed.map(({ id }) => id).join(', ')} failed.` : ''
  return `Each time it stops, Casefile runs the proof steps of the plan: ${names}.${last}`
}

/** How to go on after a failure. */
export function afterFailureText({ conversation }: TerminalFacts): string {
  return conversation !== null && conversation.ended_at === null
    ? 'Your next prompt in the terminal begins a new session.'
    : 'To continue, start the agent again in a terminal.'
}
