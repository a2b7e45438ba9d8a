import type { Problem } from '../model/problem.ts'
import type { Session } from '../model/session.ts'

/**
 * The trail of a session that runs here is the service's own, and no trail loses a line: lines that
 * a person's save removed, changed or (here) added do not count and go with the next write. Lines
 * added to another session's count, since git brings the runs of other machines.
 */
export function withKnownTrail(
  read: Session,
  problems: Problem[],
  known: Session,
  held: boolean,
): { value: Session; problems: Problem[] } {
  const was = known.trail.map((line) => JSON.stringify(line))
  const is = read.trail.map((line) => JSON.stringify(line))
  const kept = was.every((line, index) => line === is[index])
  const value = held ? { ...read, state: known.state } : read
  if (kept && (is.length === was.length || !held)) return { value, problems }
  const file = `sessions/${known.number}.md`
  const message =
    'lines of the audit trail were changed by hand: they do not count, and the true ones are put back with the next write'
  return {
    value: { ...read, trail: known.trail, state: known.state },
    problems: [...problems, { code: 'trail_changed', file, line: null, message }],
  }
}
