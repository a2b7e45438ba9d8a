import { sessionOf } from '../../model/case-contents.ts'
import { hasEnded } from '../../model/session-state.ts'
import { nextTrailNumber } from '../../model/trail.ts'
import type { ServiceContext } from '../context.ts'
import { type EndpointDeps, endpoint } from '../endpoint.ts'
import { caseIdParam, sessionIdParam } from '../schemas/params.ts'
import { resuming } from '../schemas/query.ts'
import { openEventStream, readResumePoint } from '../sse/event-stream.ts'
import { createEventQueue } from '../sse/session-stream.ts'

export const sessionStreamEndpoints = [
  endpoint({
    route: 'GET /cases/:id/sessions/:sid/stream',
    id: 'streamSession',
    tag: 'Sessions',
    summary: 'Stream the events of a session',
    description:
      'Sends server-sent events: its audit log from the beginning or after the given id, then live events and the output of steps. The stream closes when the session is over.',
    params: { id: caseIdParam, sid: sessionIdParam },
    query: resuming.query,
    headers: resuming.headers,
    responses: {
      200: {
        description: 'Past events, then live ones, until the session is over.',
        events: 'SessionEvent',
      },
      204: { description: 'There are no more events.' },
    },
    handle: ({ c, service, params: { id, sid } }) => streamSession(c, service, { id, sid }),
  }),
]

/** The id of an event is its number in the audit log, so that a client resumes exactly, even after a restart. */
async function streamSession(
  c: ServiceContext,
  service: EndpointDeps,
  { id, sid }: { id: string; sid: string },
): Promise<Response> {
  const { streams: registry } = service
  const present = sessionOf(await service.store.read(id), sid)
  const last = nextTrailNumber(present.trail) - 1
  const resume = readResumePoint(c)
  const known = resume.kind === 'after' && resume.id <= last
  if (known && resume.id === last && hasEnded(present.state)) return c.body(null, 204)

  const unsubscribe: (() => void)[] = []
  const stream = openEventStream(c, {
    registry,
    onClose: () => {
      for (const undo of unsubscribe) undo()
    },
  })
  const feed = createEventQueue(stream, known ? resume.id : 0, service.withTail)
  unsubscribe.push(
    service.caseChanges.subscribe(({ caseId }) => {
      if (caseId !== id) return
      const session = service.catalog.entry(id)?.sessions.get(present.number)?.value
      feed(session?.id === sid ? { session } : 'gone')
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
