import type { Problem } from '../model/problem.ts'
import { isSealed, type Session } from '../model/session.ts'
import { isEnded, stateInTrail } from '../model/session-state.ts'

/**
 * The trail is the service's own, and no trail loses a line: lines that a person's save removed,
 * changed or added do not count and go with the next write. (What git brings of other machines' runs
 * is not asked here.) A file that a merge or a switch of branches made another session's while this
 * one runs is not believed, nor written over.
 */
export function withKnownTrail(
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
  const was = known.trail.map((line) => JSON.stringify(line))
  const is = read.trail.map((line) => JSON.stringify(line))
  const value = held ? { ...read, state: known.state } : read
  if (is.length === was.length && was.every((line, index) => line === is[index])) {
    return { value, problems }
  }
  const message =
    'lines of the audit trail were changed by hand: they do not count, and the true ones are put back with the next write'
  const { byHand, ...rest } = read
  const isOpen = !isEnded(known.state, false) && !isSealed(known)
  return {
    value: {
      ...rest,
      ...(byHand && isOpen ? { byHand } : {}),
      ...{ trail: known.trail, state: known.state },
    },
    problems: [
      // what the changed trail made of the state is not what it is
      ...problems.filter(({ code }) => code !== 'state_by_hand'),
      { code: 'trail_changed', file, line: null, message },
    ],
  }
}

/** A session that runs here is what its journal says until its own job has ended it, whatever a person wrote. */
export function asItRuns(session: Session, held: boolean): Session {
  if (!held || session.byHand === undefined) return session
  return { ...session, state: stateInTrail(session.trail) ?? session.state }
}
