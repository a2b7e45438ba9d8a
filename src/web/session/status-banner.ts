import type { QueuePlaceJson } from '../../http/schemas/queue.ts'
import type { PlanReading } from '../../markdown/plan-steps.ts'
import { counted } from '../../model/amounts.ts'
import { attentionOf, isClosed } from '../../model/attention.ts'
import { type CaseFolder, shownState } from '../../model/case-folder.ts'
import { refusedActions, refusedCount } from '../../model/refused-actions.ts'
import { outOfScopeText } from '../../model/scope.ts'
import { hasEnded, hasProof, type Session } from '../../model/session.ts'
import { failureText, unansweredFailure, wasStopped } from '../../model/session-failure.ts'
import { OWN_PROVIDER } from '../../model/settings.ts'
import { lastOf } from '../../model/trail.ts'
import { visibleText } from '../../rendering/hidden-characters.ts'
import { mayPlanAgain } from './plan-again.tsx'
import type { StepRow } from './step-rows.ts'
import {
  afterFailureText,
  planningText,
  type TerminalFacts,
  waitingText,
  workingText,
} from './terminal-status.ts'

/** What happens now, and what the operator can do about it. */
export interface SessionStatus {
  kind: 'waiting' | 'running' | 'over'
  text: string
  /** What that means, or what to do next. */
  more: string
  tone: 'info' | 'warn' | 'bad' | 'good'
}

interface StatusInput {
  folder: CaseFolder
  session: Session
  rows: readonly StepRow[]
  plan: Pick<PlanReading, 'steps'>
  /** What its plan was made from, if no agent made it. */
  planSource: string
  terminal: TerminalFacts | null
  /** Its place in line. */
  queue: QueuePlaceJson | null
  /** The number of mistakes in the steps of the plan. */
  planErrors: number
  /** The session's file can't be relied on. */
  isBroken: boolean
  /** Its plan waits, and an approval would be rejected whatever the plan says. */
  isBarred: boolean
}

export function sessionStatus(input: StatusInput): SessionStatus {
  const { folder, session, rows, plan, terminal, queue } = input
  const { state, number } = session
  const who = session.provider === OWN_PROVIDER ? 'Casefile' : session.provider
  const isForeign = folder.problems.some(
    ({ code, file }) => code === 'foreign_session' && file === `sessions/${number}.md`,
  )
  if (isForeign) {
    return {
      kind: 'waiting',
      text: 'This session was running on another machine.',
      more: 'Nothing runs here. Continue there, or abandon it.',
      tone: 'warn',
    }
  }
  if (terminal && (state === 'created' || state === 'planning'))
    return running('The agent works on a plan in its terminal.', planningText(terminal))
  switch (state) {
    case 'created':
      return running('Loading the case…', 'Nothing runs until you approve the plan.')
    case 'planning':
      return running(`${who} is writing the plan.`, 'Nothing runs until you approve it.')
    case 'plan_ready':
      return planReady(input)
    case 'approved':
      return queue ? inLine(queue) : running('Starting…', '')
    case 'executing':
      return terminal
        ? running(workInTerminal(rows), workingText(plan, rows))
        : running(executingText(rows), '')
    case 'complete':
      return completed(
        whatFailed(session, rows),
        hasProof(session, folder.proofs) ? (attentionOf(folder)?.text ?? '') : null,
      )
    case 'failed':
      return failed(input)
    case 'abandoned': {
      const reason = lastOf(session.trail, 'session_state_changed')?.fields.reason
      const why = typeof reason === 'string' && reason !== '' ? reason : 'No reason given.'
      return { kind: 'over', text: 'Stopped.', more: why, tone: 'info' }
    }
    default:
      return state satisfies never
  }
}

function inLine({ position, waits_for }: QueuePlaceJson): SessionStatus {
  const place = position === 1 ? 'next' : `number ${position}`
  return {
    kind: 'waiting',
    text: waits_for
      ? `Waits in line (${place}), after session ${waits_for.number} of “${visibleText(waits_for.title)}”.`
      : 'Waits in line, and is about to start.',
    more: 'It starts by itself, on what the working folder has by then. The session shows the commit at your approval, and that at the start.',
    tone: 'info',
  }
}

function planReady({
  session,
  terminal,
  planErrors,
  isBroken,
  isBarred,
}: StatusInput): SessionStatus {
  if (isBroken) {
    return {
      kind: 'waiting',
      text: "The plan can't be approved: its file has a problem.",
      more: 'Fix the file first; the problem is shown below. Nothing has run.',
      tone: 'bad',
    }
  }
  const left = whyLeft(session)
  if (planErrors > 0) {
    return {
      kind: 'waiting',
      text: "The plan can't be approved yet.",
      more: `${counted(planErrors, 'mistake')} in its steps. Edit it, or request changes. Nothing has run.`,
      tone: 'bad',
    }
  }
  return {
    kind: 'waiting',
    text: isBarred
      ? "The plan can't be approved yet."
      : left === undefined
        ? 'This plan needs your approval.'
        : 'This plan needs your approval again.',
    more: isBarred
      ? 'The reason is shown with the plan. Nothing has run.'
      : terminal
        ? waitingText(terminal)
        : left === undefined
          ? 'Nothing runs until you approve it.'
          : `Nothing has run. ${visibleText(left)}`,
    tone: 'warn',
  }
}

/** Why an approval was taken back, if the plan is still the same. */
function whyLeft({ trail }: Session): string | undefined {
  const last = lastOf(trail, 'session_state_changed')?.fields
  return last?.old_state === 'approved' && last.new_state === 'plan_ready'
    ? String(last.reason ?? '')
    : undefined
}

function failed({ folder, session, planSource, terminal }: StatusInput): SessionStatus {
  const isYours = unansweredFailure(folder) === session && !isClosed(shownState(folder))
  const next = terminal
    ? afterFailureText(terminal)
    : session.provider === OWN_PROVIDER
      ? wasStopped(session)
        ? 'Plan again to run it.'
        : `The plan came from ${planSource}: fix that, then plan again.`
      : `Plan again starts a new session that tells ${session.provider} about this failure.`
  return {
    kind: isYours ? 'waiting' : 'over',
    text: `Failed: ${failureText(session)}.`,
    more: mayPlanAgain({ folder, session }) ? next : '',
    tone: 'bad',
  }
}

/** `needs`: what the case needs next, once the session has proof. */
function completed(failures: string, needs: string | null): SessionStatus {
  const isProven = needs !== null
  const kind = isProven ? 'over' : 'waiting'
  const more = isProven
    ? `This session is sealed.${needs === '' ? '' : ` Next: ${visibleText(needs)}.`}`
    : failures
      ? 'Review the result before you attach it as proof.'
      : 'Review the result, then attach proof.'
  if (failures) {
    const proof = isProven ? ' Proof is attached.' : ''
    return { kind, text: `Completed, but ${failures}.${proof}`, more, tone: 'warn' }
  }
  const text = isProven ? 'Complete, with proof.' : 'All steps succeeded.'
  return { kind, text, more, tone: 'good' }
}

/** Changes outside the scope, failed tests, failed steps and denied actions of a run that completed; empty if there are none. */
export function whatFailed({ tests, trail }: Session, rows: readonly StepRow[]): string {
  const steps = rows.filter(({ plan, state }) => plan !== null && state === 'failed').length
  const parts = [
    outOfScopeText(trail),
    tests && tests.failed > 0 ? `${tests.failed} of ${counted(tests.run, 'test')} failed` : '',
    tests?.run === 0 ? 'no tests ran' : '',
    steps > 0 ? `${counted(steps, 'step')} failed` : '',
    refusedCount(refusedActions(trail).work),
  ]
  return parts.filter((text) => text !== '').join(' and ')
}

function running(text: string, more: string): SessionStatus {
  return { kind: 'running', text, more, tone: 'info' }
}

function executingText(rows: readonly StepRow[]): string {
  const ofPlan = rows.filter(({ plan }) => plan !== null)
  const now = rows.find(({ state }) => state === 'running')
  if (!now) {
    const hasStarted = ofPlan.some(({ state }) => state !== 'will_run')
    return hasStarted ? 'Collecting evidence…' : 'Starting…'
  }
  if (now.plan === null) return 'The agent is carrying out the plan.'
  return `Running step ${ofPlan.indexOf(now) + 1} of ${ofPlan.length}: ${now.id}`
}

function workInTerminal(rows: readonly StepRow[]): string {
  const isChecking = rows.some(({ state }) => state === 'running')
  return isChecking ? executingText(rows) : 'The agent works in its terminal.'
}

/** Whether a new session is what comes next. */
export function mayContinue({ folder, session }: Pick<StatusInput, 'folder' | 'session'>): boolean {
  return hasEnded(session, folder.proofs) || session.state === 'complete'
}
