import type { CaseFolder } from './case-folder.ts'
import type { Session } from './session.ts'
import { lastOf, type TrailLine } from './trail.ts'

/**
 * The newest session, if it failed and nothing came after it: no act of another session, no proof, no
 * state that somebody gave the case since.
 */
export function unansweredFailure({
  case: { state },
  sessions,
  proofs,
}: CaseFolder): Session | undefined {
  const newest = sessions.at(-1)
  if (newest?.state !== 'failed') return undefined
  const failure = lastOf(newest.trail, 'session_state_changed')
  const at = changedAt(newest)
  const wentOn =
    sessions.some((session) => session !== newest && changedAt(session) > at) ||
    proofs.some(({ created_at, verified_at }) => created_at > at || (verified_at ?? '') > at)
  // a session that is created takes its case out of OPEN: only a person puts it back there
  const before = failure?.fields.case_state
  const wasSet = before === undefined ? state === 'OPEN' : state !== before
  return wentOn || wasSet ? undefined : newest
}

/** Why a session failed, on one line without a full stop: its reason, and how many tests failed. */
export function failureText({ trail, tests }: Pick<Session, 'trail' | 'tests'>): string {
  const reason = reasonOf(trail)
    .replace(/^The run stopped: /, '')
    .replace(/\.$/, '')
  const failed =
    tests && tests.failed > 0
      ? `${tests.failed} of ${tests.run} ${tests.run === 1 ? 'test' : 'tests'} failed`
      : ''
  const parts = [cutLine(reason), failed].filter((part) => part !== '')
  return parts.length === 0 ? 'no reason is recorded' : parts.join('; ')
}

/** The step that was under way when a session failed; null where none was, or where it ended well. */
export function failedStep(trail: readonly TrailLine[]): FailedStep | null {
  const started = lastOf(trail, 'step_started')
  if (!started) return null
  const id = String(started.fields.step)
  const finished = trail.find(({ event, number }) => {
    return event === 'step_finished' && number > started.number
  })
  const tail = typeof finished?.fields.tail === 'string' ? finished.fields.tail : ''
  const { exit, timed_out } = finished?.fields ?? {}
  const isNamed = reasonOf(trail).includes(`step ${id} `)
  return isNamed || !finished || exit !== 0 || timed_out === true ? { id, tail } : null
}

export interface FailedStep {
  id: string
  /** The last of what it printed. */
  tail: string
}

function reasonOf(trail: readonly TrailLine[]): string {
  const reason = lastOf(trail, 'session_state_changed')?.fields.reason
  return typeof reason === 'string' ? reason.replace(/\s+/g, ' ').trim() : ''
}

/** When it came into its state. */
/** When the state of a session changed last. */
export function changedAt({ trail, completed_at, started_at }: Session): string {
  const change = lastOf(trail, 'session_state_changed') ?? lastOf(trail, 'session_created')
  return change?.time ?? completed_at ?? started_at
}

const MAX_LINE = 160

/** A text of one line, no longer than a row has room for. */
export function cutLine(text: string): string {
  return text.length > MAX_LINE ? `${text.slice(0, MAX_LINE - 1).toWellFormed()}…` : text
}
