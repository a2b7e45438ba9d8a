import { lineInQueue } from '../model/trail.ts'
import type { Standing } from '../sessions/jobs.ts'
import type { HttpDeps } from './deps.ts'
import type { QueueEntryJson, QueuePlaceJson } from './schemas/queue.ts'
import { shownFolder } from './shown-folder.ts'

type Needs = Pick<HttpDeps, 'catalog' | 'layout' | 'sessions'>

/** The place in line of a session; null if it does not wait here. */
export function queuePlace(service: Needs, sessionId: string): QueuePlaceJson | null {
  const standing = service.sessions.standing(sessionId)
  return standing && placeOf(service, standing)
}

/** All sessions in line, the first one first. */
export function queueEntries(service: Needs): QueueEntryJson[] {
  return service.sessions.line().flatMap((standing) => {
    const place = placeOf(service, standing)
    if (place === null) return []
    const { job, folder } = standing
    return {
      ...named(service, job),
      folder: shownFolder(service.layout.root, folder),
      isolated: job.isolated,
      ...place,
    }
  })
}

/** Null before its approval is recorded. */
function placeOf(service: Needs, { job, obstacle, position }: Standing): QueuePlaceJson | null {
  const session = service.catalog
    .folder(job.case_id)
    ?.sessions.find(({ id }) => id === job.session_id)
  const line = session && lineInQueue(session.trail)
  if (!line) return null
  const first = obstacle?.by[0].job
  return {
    since: line.time,
    position,
    waits_for: first ? named(service, first) : null,
  }
}

function named({ catalog }: Needs, { case_id, session_id, number }: Standing['job']) {
  return {
    case_id,
    session_id,
    number,
    title: catalog.row(case_id)?.title ?? case_id,
  }
}
