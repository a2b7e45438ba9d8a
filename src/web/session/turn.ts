import { counted } from '../../model/amounts.ts'
import { isClosed } from '../../model/attention.ts'
import { type CaseFolder, shownState } from '../../model/case-folder.ts'
import { refusedActions, refusedCount } from '../../model/refused-actions.ts'
import { hasEnded, hasProof, type Session } from '../../model/session.ts'
import { failureText, unansweredFailure } from '../../model/session-failure.ts'
import { OWN_PROVIDER } from '../../model/settings.ts'
import { lastOf } from '../../model/trail.ts'
import { mayPlanAgain } from './plan-again.tsx'
import type { StepRow } from './step-rows.ts'

/** What happens now, and whose turn it is. */
export interface Turn {
  who: 'you' | 'running' | 'nobody'
  /** How it stands with the session, in a few words. */
  text: string
  /** What that means, or what to do next. */
  more: string
  tone: 'info' | 'warn' | 'bad' | 'good'
}

interface Seen {
  folder: CaseFolder
  session: Session
  rows: readonly StepRow[]
  /** How many steps of the plan are not understood. */
  planErrors: number
  /** The session's file cannot be relied on. */
  isBroken: boolean
  /** Its plan waits, and an approval would be refused whatever the plan says. */
  isBarred: boolean
}

export function turnOf({ folder, session, rows, planErrors, isBroken, isBarred }: Seen): Turn {
  const { state, number } = session
  const who = session.provider === OWN_PROVIDER ? 'Casefile' : session.provider
  const isForeign = folder.problems.some(
    ({ code, file }) => code === 'foreign_session' && file === `sessions/${number}.md`,
  )
  if (isForeign) {
    return {
      who: 'you',
      text: 'It was running on another machine.',
      more: 'Nothing of it runs here. Go on there, or abandon it.',
      tone: 'warn',
    }
  }
  if (isBroken && state === 'plan_ready') {
    return {
      who: 'you',
      text: 'The plan cannot be approved: its file has a problem.',
      more: 'Mend the file first; what is wrong with it stands below. Nothing has run.',
      tone: 'bad',
    }
  }
  switch (state) {
    case 'created':
      return running('It has just been made, and loads the case.', NOTHING_YET)
    case 'planning':
      return running(`${who} writes the hypothesis and the plan.`, NOTHING_YET)
    case 'plan_ready':
      return planErrors > 0
        ? {
            who: 'you',
            text: 'The plan cannot be approved as it stands.',
            more: `${counted(planErrors, 'mistake')} in its steps. Edit it, or ask for another one. Nothing has run.`,
            tone: 'bad',
          }
        : {
            who: 'you',
            text: isBarred
              ? 'The plan cannot be approved yet.'
              : 'The plan waits for your approval.',
            more: isBarred
              ? 'The reason is shown with the plan. Nothing has run.'
              : 'Nothing has run. Only your approval starts it.',
            tone: 'warn',
          }
    case 'approved':
      return running('The plan is approved.', 'Its execution begins.')
    case 'executing':
      return running(...executing(rows))
    case 'complete':
      return completed(whatFailed(session, rows), hasProof(session, folder.proofs))
    case 'failed':
      return failed(folder, session)
    case 'abandoned': {
      const reason = lastOf(session.trail, 'session_state_changed')?.fields.reason
      const why = typeof reason === 'string' && reason !== '' ? reason : 'No reason given.'
      return { who: 'nobody', text: 'Stopped.', more: why, tone: 'info' }
    }
    default:
      return state satisfies never
  }
}

function failed(folder: CaseFolder, session: Session): Turn {
  const isYours = unansweredFailure(folder) === session && !isClosed(shownState(folder))
  const next =
    session.provider === OWN_PROVIDER
      ? 'Plan again makes a new plan from runbook.md and the case as they are now: change those first.'
      : `Plan again starts a new session: ${session.provider} gets this failure with it.`
  return {
    who: isYours ? 'you' : 'nobody',
    text: `Failed: ${failureText(session)}.`,
    more: mayPlanAgain({ folder, session }) ? next : '',
    tone: 'bad',
  }
}

function completed(failed: string, isProven: boolean): Turn {
  const who = isProven ? 'nobody' : 'you'
  const more = isProven
    ? 'It is sealed: nothing of it changes any more.'
    : failed
      ? 'Look at what came of it before you attach it as proof.'
      : 'Look at what came of it, and attach what proves it.'
  if (failed) {
    const and = isProven ? ' It has its proof.' : ''
    return { who, text: `It completed, but ${failed}.${and}`, more, tone: 'warn' }
  }
  const text = isProven ? 'It completed, and has its proof.' : 'All went as planned.'
  return { who, text, more, tone: 'good' }
}

/** What a person should know of a run that completed: failed tests and steps, and refused actions; empty if there is nothing. */
export function whatFailed({ tests, trail }: Session, rows: readonly StepRow[]): string {
  const steps = rows.filter(({ plan, state }) => plan !== null && state === 'failed').length
  return [
    ...(tests && tests.failed > 0
      ? [`${tests.failed} of ${counted(tests.run, 'test')} failed`]
      : []),
    ...(tests?.run === 0 ? ['no test was run'] : []),
    ...(steps > 0 ? [`${counted(steps, 'step')} failed`] : []),
    ...[refusedCount(refusedActions(trail).work)].filter((text) => text !== ''),
  ].join(' and ')
}

const NOTHING_YET = 'Nothing of it is carried out before you approve it.'

function running(text: string, more: string): Turn {
  return { who: 'running', text, more, tone: 'info' }
}

function executing(rows: readonly StepRow[]): [string, string] {
  const ofPlan = rows.filter(({ plan }) => plan !== null)
  const now = rows.find(({ state }) => state === 'running')
  const more = 'You may abandon it at any time: all that runs is ended then.'
  if (!now) {
    const begun = ofPlan.some(({ state }) => state !== 'will_run')
    return [begun ? 'The steps are over; the evidence is taken.' : 'The execution begins.', more]
  }
  if (now.plan === null) return ['The agent carries the plan out.', more]
  return [`Step ${ofPlan.indexOf(now) + 1} of ${ofPlan.length} runs: ${now.id}.`, more]
}

/** Whether a new session is what comes next. */
export function mayGoOn({ folder, session }: Pick<Seen, 'folder' | 'session'>): boolean {
  return hasEnded(session, folder.proofs) || session.state === 'complete'
}
