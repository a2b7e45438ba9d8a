import { lineInQueue } from '../model/trail.ts'
import type { HttpDeps } from './deps.ts'
import type { QueuePlaceJson } from './schemas/queue.ts'

/** The place in line of a session; null if it does not wait here, or before its approval is recorded. */
export function queuePlace(
  { catalog, sessions }: Pick<HttpDeps, 'catalog' | 'sessions'>,
  sessionId: string,
): QueuePlaceJson | null {
  const standing = sessions.standing(sessionId)
  if (standing === null) return null
  const { job, obstacle, position } = standing
  const session = catalog.folder(job.case_id)?.sessions.find(({ id }) => id === sessionId)
  const line = session && lineInQueue(session.trail)
  if (!line) return null
  const first = obstacle?.by[0].job
  return {
    since: line.time,
    position,
    waits_for: first
      ? {
          case_id: first.case_id,
          session_id: first.session_id,
          number: first.number,
          title: catalog.row(first.case_id)?.title ?? first.case_id,
        }
      : null,
  }
}
