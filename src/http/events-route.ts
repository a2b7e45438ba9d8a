import { outputEnvelope } from '../events/envelope.ts'
import type { LogEvent } from '../workspace/log/log-line.ts'
import type { ServiceContext } from './context.ts'
import { openEventStream, resumePoint, type StreamRegistry } from './event-stream.ts'
import type { HttpNeeds } from './needs.ts'

/** Live events that wait while the replay goes on: more of them is a client too slow. */
const MAX_WAITING = 10_000

/**
 * `GET /events`: every event of the workspace, from the log. The id of an event is its number in the
 * log; `Last-Event-ID` or `?after=` resumes behind one for as long as the log reaches, `?after=now`
 * begins with what comes next. Without either, all that the log holds comes first (design §5).
 */
export function eventsRoute(
  service: HttpNeeds,
  registry: StreamRegistry,
  c: ServiceContext,
): Response {
  const { eventLog, outputs, now, log } = service
  const { first, last } = eventLog
  // a browser that connects again with the same address says what it had last
  const isFromNow = c.req.query('after') === 'now' && !c.req.header('last-event-id')
  const resume = isFromNow ? { kind: 'now' as const } : resumePoint(c)
  const reaches = (id: number) => id === last || (first > 0 && id >= first - 1 && id < last)
  const known = resume.kind === 'after' && reaches(resume.id)
  const unsubscribe: (() => void)[] = []
  const stream = openEventStream(c, {
    registry,
    onClose: () => {
      for (const undo of unsubscribe) undo()
    },
  })
  const send = ({ id, type, envelope }: LogEvent) =>
    stream.send({ event: type, data: envelope, id })
  let waiting: LogEvent[] | null = []
  unsubscribe.push(
    eventLog.subscribe((event) => {
      if (waiting === null) send(event)
      else if (waiting.push(event) > MAX_WAITING) stream.drop()
    }),
    outputs.subscribe((output) => {
      if (waiting !== null) return
      const data = JSON.stringify(outputEnvelope(output))
      stream.send({ event: 'session_output', data })
    }),
  )
  if (resume.kind === 'unknown' || (resume.kind === 'after' && !known)) {
    const envelope = { event_type: 'resync', timestamp: now(), payload: {} }
    stream.send({ event: 'resync', data: JSON.stringify(envelope) })
  }

  async function replay(after: number): Promise<void> {
    for await (const event of eventLog.read(after)) {
      if (!send(event) || !(await stream.drained())) return
    }
    while (waiting !== null && waiting.length > 0) {
      const event = waiting.shift()!
      if (!send(event) || !(await stream.drained())) return
    }
    waiting = null
  }

  if (resume.kind === 'now') waiting = null
  else {
    replay(known ? resume.id : 0).catch((error: unknown) => {
      log(`the event log could not be read: ${String(error)}`)
      stream.drop()
    })
  }
  return stream.response
}
