import { outputEnvelope, type SessionOutput, trailEnvelope } from '../events/envelope.ts'
import { sessionOf } from '../model/case-folder.ts'
import type { Session } from '../model/session.ts'
import { isOver } from '../model/session-state.ts'
import { nextTrailNumber } from '../model/trail.ts'
import type { ServiceContext } from './context.ts'
import {
  type EventStream,
  openEventStream,
  resumePoint,
  type StreamRegistry,
} from './event-stream.ts'
import type { HttpNeeds } from './needs.ts'
import { caseId, sessionId } from './params.ts'

/** What is still to be sent while the replay goes on: more of it than this is a client too slow. */
const MAX_WAITING_CHARACTERS = 1024 * 1024

type Item = { session: Session } | { output: SessionOutput } | 'gone'

/**
 * `GET /cases/:id/sessions/:sid/stream`: replays the session's trail, goes on live, and closes when
 * the session has completed or ended (design §5). The id of an event is its number in the trail, so
 * a resume is exact, across a restart of the service too.
 */
export async function streamRoute(
  service: HttpNeeds,
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
  const feed = createFeed(stream, known ? resume.id : 0)
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

/** Sends what comes in order, a trail line at most once; a long replay waits for the client. */
function createFeed(stream: EventStream, after: number): (item: Item) => void {
  const waiting: Item[] = []
  let waitingCharacters = 0
  let sent = after
  let busy = false
  let replaying = true

  async function sendSession(session: Session): Promise<void> {
    for (const line of session.trail) {
      if (line.number <= sent) continue
      sent = line.number
      const data = JSON.stringify(trailEnvelope(session, line))
      stream.send({ event: line.event, data, id: line.number })
      if (replaying) await stream.drained()
    }
    replaying = false
    if (isOver(session.state)) stream.end() // but for its proof and seal nothing more will come
  }

  async function work(): Promise<void> {
    busy = true
    for (let item = waiting.shift(); item !== undefined && stream.isOpen; item = waiting.shift()) {
      if (item === 'gone') stream.end()
      else if ('session' in item) await sendSession(item.session)
      else {
        waitingCharacters -= item.output.text.length
        stream.send({ event: 'session_output', data: JSON.stringify(outputEnvelope(item.output)) })
      }
    }
    busy = false
  }

  return (item) => {
    waiting.push(item)
    if (typeof item === 'object' && 'output' in item) waitingCharacters += item.output.text.length
    if (waitingCharacters > MAX_WAITING_CHARACTERS) stream.drop()
    else if (!busy) void work()
  }
}
