import type { Problem } from '../model/problem.ts'
import type { Session } from '../model/session.ts'
import { stateInTrail } from '../model/session-state.ts'

/**
 * The trail of a session that runs here is the service's own, and no trail loses a line: lines that
 * a person's save removed, changed or (here) added do not count and go with the next write. Lines
 * added to another session's count, since git brings the runs of other machines. A file that a merge or
 * a switch of branches made another session's while this one runs is not believed, nor written over.
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
  const kept = was.every((line, index) => line === is[index])
  const value = held ? { ...read, state: known.state } : read
  if (kept && (is.length === was.length || !held)) return { value, problems }
  const message =
    'lines of the audit trail were changed by hand: they do not count, and the true ones are put back with the next write'
  return {
    value: { ...read, trail: known.trail, state: known.state },
    problems: [...problems, { code: 'trail_changed', file, line: null, message }],
  }
}

/** A session that runs here is what its journal says until its own job has ended it, whatever a person wrote. */
export function asItRuns(session: Session, held: boolean): Session {
  if (!held || session.byHand === undefined) return session
  return { ...session, state: stateInTrail(session.trail) ?? session.state }
}
