import { counted } from './amounts.ts'
import { isClosedState } from './attention.ts'
import { type CaseContents, shownState } from './case-contents.ts'
import { type Conversation, resumeCommand } from './conversation.ts'
import { nextAct, type Status } from './next-act.ts'
import type { PlanStep } from './plan-step.ts'
import { failedTestsText } from './proof-objections.ts'
import { refusedActions, refusedCount } from './refused-actions.ts'
import { outOfScopeText } from './scope.ts'
import { failedCount, type Session } from './session.ts'
import { failureText, wasStopped } from './session-failure.ts'
import { OWN_PROVIDER } from './settings.ts'
import type { StepRow } from './step-rows.ts'
import { lastOf } from './trail.ts'

/** What a session's status needs besides the files of its case. */
export interface SessionFacts {
  session: Session
  rows: readonly StepRow[]
  steps: readonly PlanStep[]
  /** What its plan was made from, if no agent made it. */
  planSource: string
  /** Null for a session whose agent the service starts. */
  terminal: TerminalFacts | null
  queue: QueueFacts | null
  /** The number of mistakes in the steps of the plan. */
  planErrors: number
  /** The session's file can't be relied on. */
  isBroken: boolean
  /** Why an approval would be rejected whatever the plan says; null if it would not. */
  objection: { text: string; isTrust: boolean } | null
}

/** The conversation that a session in a terminal records, as this machine knows it. */
export interface TerminalFacts {
  /** Null if it is not known here, or records a later session by now. */
  conversation: Conversation | null
  /** Its folder, relative to the workspace where it lies there. */
  folder: string
  /** No hook was heard that can deny a tool call. */
  isUngated: boolean
}

/** The place in line of a session. */
export interface QueueFacts {
  position: number
  waits_for: { number: number; title: string } | null
}

/** `ofCase`: where the case is. For a session that has ended, that is what comes next. */
export function sessionStatus(contents: CaseContents, facts: SessionFacts, ofCase: Status): Status {
  const { session, terminal, queue } = facts
  const { state, number } = session
  const file = `sessions/${number}.md`
  if (contents.problems.some((each) => each.code === 'foreign_session' && each.file === file)) {
    return {
      headline: 'This session was running on another machine.',
      detail: 'Nothing runs here. Continue there, or abandon it.',
      next: null,
      session: number,
      tone: 'warn',
    }
  }
  const running = (headline: string, detail = ''): Status => {
    const next = nextAct('watch', { session: number })
    return { headline, detail, next, session: number, tone: 'info' }
  }
  switch (state) {
    case 'created':
    case 'planning':
      if (terminal) {
        const detail = "It can't change anything before its plan is approved."
        return running(
          'The agent works on a plan in its terminal.',
          terminal.isUngated ? '' : detail,
        )
      }
      return running(
        state === 'created' ? 'Loading the case…' : `${planner(session)} is writing the plan.`,
        'Nothing runs before it is approved.',
      )
    case 'plan_ready':
      return waiting(facts)
    case 'approved':
      return queue ? inLine(number, queue) : running('Starting…')
    case 'executing':
      if (terminal?.conversation?.approved) {
        const detail = `The agent gets your decision with its next prompt, or when its turn ends. If its terminal is closed, resume it${resumeText(terminal.conversation)}.`
        return running('The agent does not know yet that its plan is approved.', detail)
      }
      return terminal ? running(workInTerminal(facts), nextCheck(facts)) : running(working(facts))
    case 'complete': {
      const failures = whatFailed(session, facts.rows)
      const tone = failures === '' ? 'good' : 'warn'
      return ended(session, completeText(session, failures), ofCase, tone)
    }
    case 'failed':
      return contents.sessions.at(-1)?.id === session.id && !isClosedState(shownState(contents))
        ? failed(session, terminal, facts.planSource)
        : ended(session, failedText(session), ofCase, 'bad')
    case 'abandoned': {
      const reason = lastOf(session.trail, 'session_state_changed')?.fields.reason
      const why = typeof reason === 'string' && reason !== '' ? reason : 'no reason given'
      return ended(
        session,
        `Session ${number} was stopped: ${why.replace(/\.$/, '')}.`,
        ofCase,
        'info',
      )
    }
    default:
      return state satisfies never
  }
}

function planner({ provider }: Session): string {
  return provider === OWN_PROVIDER ? 'Casefile' : provider
}

/** How a session ended, and what its case needs now. */
function ended(
  { number }: Session,
  headline: string,
  ofCase: Status,
  tone: Status['tone'],
): Status {
  const isAboutIt = ofCase.session === number
  const detail = isAboutIt ? ofCase.detail : `${ofCase.headline} ${ofCase.detail}`.trim()
  return { headline, detail, next: ofCase.next, session: number, tone }
}

export function inLine(number: number, { position, waits_for }: QueueFacts): Status {
  const place = position === 1 ? 'next' : `number ${position}`
  const after = waits_for && `after session ${waits_for.number} of "${waits_for.title}"`
  return {
    headline: after
      ? `Session ${number} waits in line (${place}), ${after}.`
      : `Session ${number} waits in line, and is about to start.`,
    detail: 'It starts by itself, on what the working folder has by then.',
    next: nextAct('watch', { session: number }),
    session: number,
    tone: 'info',
  }
}

/** That the plan of a session waits for a decision. */
export function waitsText(number: number): string {
  return `The plan of session ${number} waits for approval.`
}

function waiting({ session, terminal, planErrors, isBroken, objection }: SessionFacts): Status {
  const { number } = session
  const barred = {
    headline: "The plan can't be approved yet.",
    session: number,
    tone: 'bad' as const,
  }
  if (isBroken) {
    const headline = "The plan can't be approved: its file has a problem."
    const detail = 'Fix the file first. Nothing has run.'
    return { ...barred, headline, detail, next: nextAct('fix', { session: number }) }
  }
  if (planErrors > 0) {
    const mistakes = `${counted(planErrors, 'mistake')} in its steps.`
    const detail = `${mistakes} Edit it, or request changes. Nothing has run.`
    return { ...barred, detail, next: nextAct('edit_plan', { session: number }) }
  }
  if (objection !== null) {
    const next = objection.isTrust ? nextAct('trust', { session: number }) : null
    return { ...barred, detail: `${objection.text} Nothing has run.`, next, tone: 'warn' }
  }
  const last = lastOf(session.trail, 'session_state_changed')?.fields
  const isBack = last?.old_state === 'approved' && last.new_state === 'plan_ready'
  return {
    headline: isBack ? `${waitsText(number).slice(0, -1)} again.` : waitsText(number),
    detail: isBack
      ? `Nothing has run. ${String(last.reason ?? '')}`
      : terminal
        ? waitingInTerminal(terminal)
        : 'Nothing runs before that.',
    next: nextAct('review_plan', { session: number }),
    session: number,
    tone: 'warn',
  }
}

function waitingInTerminal({ conversation }: TerminalFacts): string {
  if (conversation?.ended_at) {
    return `The agent's terminal is closed. Decide when you like: the agent gets your decision when you resume it${resumeText(conversation)}.`
  }
  return conversation?.is_strict
    ? 'The agent waits in its terminal. Only an approval in Casefile counts.'
    : 'The agent waits in its terminal. You can also answer there; the first answer counts.'
}

function resumeText(conversation: Conversation): string {
  const command = resumeCommand(conversation)
  return command === null ? '' : `: ${command}`
}

function failedText(session: Session): string {
  return `Session ${session.number} failed: ${failureText(session)}.`
}

/** The newest session failed, and its case is open. `terminal`: null also if that is not known. */
export function failed(
  session: Session,
  terminal: TerminalFacts | null,
  planSource: string,
): Status {
  const { number, origin, provider } = session
  const isOpen = terminal?.conversation?.ended_at === null
  const detail =
    origin === 'terminal'
      ? isOpen
        ? 'The next prompt in the terminal begins a new session.'
        : 'To continue, start the agent again in a terminal.'
      : provider !== OWN_PROVIDER
        ? `A new session tells ${provider} about this failure.`
        : wasStopped(session)
          ? 'Plan again to run it.'
          : `The plan came from ${planSource}: fix that first.`
  const next = origin === 'terminal' ? null : nextAct('plan_again', { session: number })
  return { headline: failedText(session), detail, next, session: number, tone: 'bad' }
}

/** How a session ended that is complete. */
export function completeText(session: Session, failures: string): string {
  const { number, tests } = session
  if (failures !== '') return `Session ${number} is complete, but ${failures}.`
  if (!tests) return `Session ${number} is complete.`
  if (tests.failed > 0) return `Session ${number} is complete, but ${failedTestsText(session)}.`
  return `Session ${number} passed ${tests.passed} of ${counted(tests.run, 'test')}.`
}

/** Changes outside the scope, failed tests, failed steps and denied actions of a run that completed; empty if there are none. */
export function whatFailed({ tests, trail }: Session, rows: readonly StepRow[]): string {
  const steps = rows.filter(({ plan, state }) => plan !== null && state === 'failed').length
  const parts = [
    outOfScopeText(trail),
    tests && tests.failed > 0 ? failedCount(tests) : '',
    tests?.run === 0 ? 'no tests ran' : '',
    steps > 0 ? `${counted(steps, 'step')} failed` : '',
    refusedCount(refusedActions(trail).work),
  ]
  return parts.filter((text) => text !== '').join(' and ')
}

function working({ rows }: SessionFacts): string {
  const ofPlan = rows.filter(({ plan }) => plan !== null)
  const now = rows.find(({ state }) => state === 'running')
  if (!now) {
    const hasStarted = ofPlan.some(({ state }) => state !== 'will_run')
    return hasStarted ? 'Collecting evidence…' : 'Starting…'
  }
  if (now.plan === null) return 'The agent is carrying out the plan.'
  return `Running step ${ofPlan.indexOf(now) + 1} of ${ofPlan.length}: ${now.id}`
}

function workInTerminal(facts: SessionFacts): string {
  const isChecking = facts.rows.some(({ state }) => state === 'running')
  return isChecking ? working(facts) : 'The agent works in its terminal.'
}

/** When the work in a terminal is checked, and how the last check ended. */
function nextCheck({ steps, rows }: SessionFacts): string {
  const proving = steps.filter(({ proof }) => proof !== null)
  if (proving.length === 0) return 'The session is complete once it stops.'
  const names = proving.map(({ id }) => id).join(', ')
  const failed = rows.filter(({ plan, state }) => plan !== null && state === 'failed')
  const last =
    failed.length > 0 ? ` At its last stop, ${failed.map(({ id }) => id).join(', ')} failed.` : ''
  return `Each time it stops, Casefile runs the proof steps of the plan: ${names}.${last}`
}
