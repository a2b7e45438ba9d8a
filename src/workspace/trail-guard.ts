/** Protects the audit trail of a session against edits by people and programs. */

import type { Problem } from '../model/problem.ts'
import { isSealed, type Session, serviceFields } from '../model/session.ts'
import { isFinalState } from '../model/session-state.ts'
import type { TrailLine } from '../model/trail.ts'
import { stateInTrail } from '../model/trail.ts'

/**
 * Ignores and later restores audit lines that a person's save removed, changed or added. (Changes by git are handled
 * in true-trail.ts.) If a merge or branch switch put another session's file here while this session runs, the file is
 * neither used nor overwritten.
 */
export function restoreTrail(
  read: Session,
  problems: Problem[],
  known: Session,
  isRunningHere: boolean,
): { value: Session | null; problems: Problem[] } {
  const file = `sessions/${known.number}.md`
  if (read.id !== known.id) {
    const message = `id: ${read.id} is not the running session of this file (${known.id}): restore that session's file, or abandon the session`
    return { value: null, problems: [{ code: 'id_mismatch', file, line: null, message }] }
  }
  if (isSameTrail(read.trail, known.trail)) {
    return { value: isRunningHere ? { ...read, state: known.state } : read, problems }
  }
  const message =
    'lines of the audit trail were changed: the changes are ignored, and the service restores the original lines'
  const { byHand, ...others } = read
  const isOpen = !isFinalState(known.state, false) && !isSealed(known)
  const value: Session = { ...others, ...serviceFields(known), trail: known.trail }
  if (byHand && isOpen) value.byHand = byHand
  // problems caused by the changed lines do not apply
  const untrue = isOpen ? ['state_by_hand', 'session_changed'] : ['state_by_hand']
  return {
    value,
    problems: [
      ...problems.filter(({ code }) => !untrue.includes(code)),
      { code: 'trail_changed', file, line: null, message },
    ],
  }
}

export function isSameTrail(a: readonly TrailLine[], b: readonly TrailLine[]): boolean {
  return a.length === b.length && isStartOf(a, b)
}

/** Whether a trail is a prefix of another one. */
export function isStartOf(start: readonly TrailLine[], trail: readonly TrailLine[]): boolean {
  return start.every((line, index) => JSON.stringify(line) === JSON.stringify(trail[index]))
}

/**
 * Returns a running session with the state from its audit trail: until its job ends, a state that a person wrote does
 * not count.
 */
export function asItRuns(session: Session, isRunningHere: boolean): Session {
  if (!isRunningHere || session.byHand === undefined) return session
  return { ...session, state: stateInTrail(session.trail) ?? session.state }
}
