import { sessionOf } from '../model/case-folder.ts'
import { type Move, sessionMove } from '../model/session.ts'
import type { NewTrailLine } from '../model/trail.ts'
import type { SessionDeps } from './deps.ts'
import type { Job } from './jobs.ts'
import { updateWithRetry } from './update-with-retry.ts'

/** Moves a session from created to planning, once its context is loaded. */
export async function beginPlanning(
  { store, now }: SessionDeps,
  job: Job,
  loaded: NewTrailLine,
): Promise<void> {
  await updateWithRetry(store, job, (folder) => {
    const session = sessionOf(folder, job.session_id)
    const move: Move = { trigger: 'context_loaded', now: now(), before: [loaded] }
    const edit = sessionMove(session, move)
    return [{ file: 'session', number: session.number, edit }]
  })
}
