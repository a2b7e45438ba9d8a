/** Protects the audit trail of a session against edits by hand. */

import type { Problem } from '../model/problem.ts'
import { isSealed, type Session, serviceFields } from '../model/session.ts'
import { isEnded, stateInTrail } from '../model/session-state.ts'
import type { TrailLine } from '../model/trail.ts'

/**
 * The trail is the service's own: lines that a person's save removed, changed or added do not count, and the true
 * ones are put back. (What git brings of other machines' runs is not asked here.) A file that a merge or a switch of
 * branches made another session's while this one runs is not believed, nor written over.
 */
export function restoreTrail(
  read: Session,
  problems: Problem[],
  known: Session,
  held: boolean,
): { value: Session | null; problems: Problem[] } {
  const file = `sessions/${known.number}.md`
  if (read.id !== known.id) {
    const message = `id: ${read.id} is not the session that runs and has this file (${known.id}): put that one back, or abandon it`
    return { value: null, problems: [{ code: 'id_mismatch', file, line: null, message }] }
  }
  if (isSameTrail(read.trail, known.trail)) {
    return { value: held ? { ...read, state: known.state } : read, problems }
  }
  const message =
    'lines of the audit trail were changed by hand: they do not count, and the service puts the true ones back'
  const { byHand, ...rest } = read
  const isOpen = !isEnded(known.state, false) && !isSealed(known)
  const value: Session = { ...rest, ...serviceFields(known), trail: known.trail }
  if (byHand && isOpen) value.byHand = byHand
  // what the changed trail made of the state, and of a seal, is not what it is
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

/** Whether a trail is the beginning of another one. */
export function isStartOf(start: readonly TrailLine[], trail: readonly TrailLine[]): boolean {
  return start.every((line, index) => JSON.stringify(line) === JSON.stringify(trail[index]))
}

/** Until its job has ended, a session that runs here is what its journal records, no matter what a person wrote. */
export function asItRuns(session: Session, held: boolean): Session {
  if (!held || session.byHand === undefined) return session
  return { ...session, state: stateInTrail(session.trail) ?? session.state }
}
