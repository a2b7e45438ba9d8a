import type { CaseContents } from './case-contents.ts'
import type { FieldsRead } from './events.ts'
import type { Session } from './session.ts'
import { lastOf, type TrailLine } from './trail.ts'

/**
 * Returns the newest session if it failed and nothing happened since: no change of another session, no proof, no
 * change of the case's state.
 */
export function unansweredFailure({
  case: { state },
  sessions,
  proofs,
}: CaseContents): Session | undefined {
  const newest = sessions.at(-1)
  if (newest?.state !== 'failed') return undefined
  const failure = lastOf(newest.trail, 'session_state_changed')
  const at = changedAt(newest)
  const hasContinued =
    sessions.some((session) => session !== newest && changedAt(session) > at) ||
    proofs.some(({ created_at, verified_at }) => created_at > at || (verified_at ?? '') > at)
  // creating a session moves its case out of OPEN, so a person set OPEN again
  const before = failure?.fields.case_state
  const wasSet = before === undefined ? state === 'OPEN' : state !== before
  return hasContinued || wasSet ? undefined : newest
}

/** Begins the reason of a session that failed by what its plan ran. */
export const RUN_STOPPED = 'The run stopped: '

/** Whether the run was ended from outside: by the operator, a stop of the service, or the time limit. */
export function wasEndedFromOutside({ state, trail }: Pick<Session, 'state' | 'trail'>): boolean {
  if (state === 'abandoned') return true
  return state === 'failed' && !reasonOf(trail).startsWith(RUN_STOPPED)
}

/** Why a session failed whose run the service ended as it was stopped. */
export const STOPPED_AT_WORK = 'The service was stopped while the session was executing.'

/** Whether that is why: then nothing of the plan needs a fix. */
export function wasStopped({ trail }: Pick<Session, 'trail'>): boolean {
  return reasonOf(trail).startsWith(STOPPED_AT_WORK)
}

/** Describes why a session failed, on one line without a full stop: its reason, and the number of failed tests. */
export function failureText({ trail, tests }: Pick<Session, 'trail' | 'tests'>): string {
  const reason = reasonOf(trail).replace(RUN_STOPPED, '').replace(/\.$/, '')
  const failed =
    tests && tests.failed > 0
      ? `${tests.failed} of ${tests.run} ${tests.run === 1 ? 'test' : 'tests'} failed`
      : ''
  const parts = [cutLine(reason), failed].filter((part) => part !== '')
  return parts.length === 0 ? 'no reason is recorded' : parts.join('; ')
}

/** Returns the step that was running when a session failed; null if there was none or it succeeded. */
export function failedStep(trail: readonly TrailLine[]): FailedStep | null {
  const started = lastOf(trail, 'step_started')
  if (!started) return null
  const id = String(started.fields.step)
  const after = trail.filter(({ number }) => number > started.number)
  const finished = after.find((line) => line.event === 'step_finished')
  const { exit, timed_out, tail: text }: FieldsRead<'step_finished'> = finished?.fields ?? {}
  const tail = typeof text === 'string' ? text : ''
  const isNamed = reasonOf(trail).includes(`step ${id} `)
  return isNamed || !finished || exit !== 0 || timed_out === true ? { id, tail } : null
}

export interface FailedStep {
  id: string
  /** The end of its output. */
  tail: string
}

function reasonOf(trail: readonly TrailLine[]): string {
  const reason = lastOf(trail, 'session_state_changed')?.fields.reason
  return typeof reason === 'string' ? reason.replace(/\s+/g, ' ').trim() : ''
}

/** Returns when the state of a session last changed. */
export function changedAt({ trail, completed_at, started_at }: Session): string {
  const change = lastOf(trail, 'session_state_changed') ?? lastOf(trail, 'session_created')
  return change?.time ?? completed_at ?? started_at
}

const MAX_LINE = 160

/** Shortens a line to the width of a row. */
export function cutLine(text: string): string {
  return text.length > MAX_LINE ? `${text.slice(0, MAX_LINE - 1).toWellFormed()}…` : text
}
