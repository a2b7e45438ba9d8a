import { sessionOf } from '../../model/case-folder.ts'
import { isOver } from '../../model/session-state.ts'
import { nextTrailNumber } from '../../model/trail.ts'
import type { ServiceContext } from '../context.ts'
import type { HttpDeps } from '../deps.ts'
import { caseId, sessionId } from '../params.ts'
import { openEventStream, resumePoint } from '../sse/event-stream.ts'
import { createEventQueue } from '../sse/session-stream.ts'
import type { StreamRegistry } from '../sse/stream-registry.ts'

/**
 * `GET /cases/:id/sessions/:sid/stream`: replays the session's trail, goes on live, and closes when
 * the session has completed or ended (design §5). The id of an event is its number in the trail, so
 * a resume is exact, across a restart of the service too.
 */
export async function streamRoute(
  service: HttpDeps,
  registry: StreamRegistry,
  c: ServiceContext,
): Promise<Response> {
  const [id, sid] = [caseId(c), sessionId(c)]
  const present = sessionOf(await service.store.read(id), sid)
  const last = nextTrailNumber(present.trail) - 1
  const resume = resumePoint(c)
  const known = resume.kind === 'after' && resume.id <= last
  if (known && resume.id === last && isOver(present.state)) return c.body(null, 204)

  const unsubscribe: (() => void)[] = []
  const stream = openEventStream(c, {
    registry,
    onClose: () => {
      for (const undo of unsubscribe) undo()
    },
  })
  const feed = createEventQueue(stream, known ? resume.id : 0)
  unsubscribe.push(
    service.changes.subscribe((change) => {
      if (change.kind === 'case' && change.case_id === id && !change.after) feed('gone')
      if (change.kind !== 'session' || change.case_id !== id) return
      if (change.after?.id === sid) feed({ session: change.after })
      else if (change.before?.id === sid && !change.after) feed('gone')
    }),
    service.outputs.subscribe((output) => {
      if (output.session_id === sid) feed({ output })
    }),
  )
  if (resume.kind !== 'none' && !known) {
    const payload = { case_id: id, session_id: sid }
    const envelope = { event_type: 'resync', timestamp: service.now(), payload }
    stream.send({ event: 'resync', data: JSON.stringify(envelope) })
  }
  const now = service.catalog.folder(id)?.sessions.find((session) => session.id === sid) ?? present
  feed({ session: now })
  return stream.response
}
