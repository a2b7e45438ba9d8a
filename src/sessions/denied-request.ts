import { sessionOf } from '../model/case-contents.ts'
import { isActive } from '../model/session-state.ts'
import type { NewTrailLine, TrailLine } from '../model/trail.ts'
import { numbered } from '../model/trail-lines.ts'
import type { SessionDeps } from './deps.ts'
import { type Job, updateWithRetry } from './jobs.ts'

export interface DeniedRequest {
  /** The denied action, in a word or two. */
  tool: string
  /** The HTTP method and path of the request. */
  title: string
  reason: string
  /** The process that sent it; absent if it had exited. */
  pid?: number
}

/** A session that sends requests in a loop must not fill its own audit trail. */
const MAX_LINES = 20

/**
 * Appends a `denied` line to the audit trail of the session whose own run sent a request that only the operator may
 * send.
 */
export async function noteDenied(
  { store, now }: Pick<SessionDeps, 'store' | 'now'>,
  job: Pick<Job, 'case_id' | 'session_id' | 'ending'>,
  denied: DeniedRequest,
): Promise<void> {
  await updateWithRetry(store, job, (contents) => {
    const session = sessionOf(contents, job.session_id)
    const known = session.trail.filter(isOwnRequest).length
    if (!isActive(session.state) || known >= MAX_LINES) return []
    const line: NewTrailLine = { event: 'denied', fields: { ...denied, kind: 'request' } }
    const lines = numbered(session.trail, [line], now())
    return [{ file: 'session', number: session.number, edit: { lines } }]
  })
}

const isOwnRequest = ({ event, fields }: TrailLine) =>
  event === 'denied' && fields.kind === 'request'
