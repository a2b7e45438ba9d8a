import { sessionOf } from '../model/case-folder.ts'
import { isRunning } from '../model/session-state.ts'
import { numbered, type TrailLine } from '../model/trail.ts'
import type { MarkedRun } from '../runners/process/run-members.ts'
import type { SessionDeps } from './deps.ts'
import type { Job } from './jobs.ts'
import { patientUpdate } from './patient-update.ts'

/** What runs for a session, as far as its requests to this service are concerned. */
export interface SessionRun extends MarkedRun {
  session_id: string
  case_id: string
  kind: Job['kind']
}

export interface DeniedRequest {
  /** What was asked for, in a word or two. */
  tool: string
  /** The request itself. */
  title: string
  reason: string
  /** The process that asked; absent where it was gone. */
  pid?: number
}

/** A session that asks in a loop shall not fill its own trail. */
const MAX_LINES = 20

/** Puts a line into the trail of a session from whose run a request came that was refused for that. */
export async function noteDenied(
  { store, now }: Pick<SessionDeps, 'store' | 'now'>,
  job: Pick<Job, 'case_id' | 'session_id' | 'ending'>,
  denied: DeniedRequest,
): Promise<void> {
  await patientUpdate(store, job, (folder) => {
    const session = sessionOf(folder, job.session_id)
    const known = session.trail.filter(isOwnRequest).length
    if (!isRunning(session.state) || known >= MAX_LINES) return []
    const line = { event: 'denied', fields: { ...denied, kind: 'request' } }
    const lines = numbered(session.trail, [line], now())
    return [{ file: 'session', number: session.number, edit: { lines } }]
  })
}

const isOwnRequest = ({ event, fields }: TrailLine) =>
  event === 'denied' && fields.kind === 'request'
