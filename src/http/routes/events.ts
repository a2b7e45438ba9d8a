import { type Envelope, outputEnvelope } from '../../events/envelope.ts'
import type { LogEvent } from '../../events/event-log.ts'
import type { ServiceContext } from '../context.ts'
import type { HttpDeps } from '../deps.ts'
import { caseInQuery, outputInQuery } from '../params.ts'
import { type Broadcast, streamEvent } from '../sse/broadcast.ts'
import { openEventStream, resumePoint } from '../sse/event-stream.ts'
import type { StreamRegistry } from '../sse/stream-registry.ts'

/** Live events that wait while the replay goes on: more of them is a client too slow. */
const MAX_WAITING = 10_000

/**
 * `GET /events`: every event of the workspace, from the log. The id of an event is its number in the
 * log; `Last-Event-ID` or `?after=` resumes behind one for as long as the log reaches, `?after=now`
 * begins with what comes next. Without either, all that the log holds comes first (design §5).
 * `?case=` leaves out all but the events of that case; the numbers stay those of the log. `?output=no`
 * leaves out what steps print.
 */
export function eventsRoute(
  service: HttpDeps,
  { registry, broadcast }: { registry: StreamRegistry; broadcast: Broadcast },
  c: ServiceContext,
): Response {
  const { eventLog, outputs, now, log } = service
  const caseId = caseInQuery(c)
  const wantsOutput = outputInQuery(c)
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
  const isWanted = (event: LogEvent) => caseId === null || isOfCase(event, caseId)
  const send = (event: LogEvent) => stream.send(streamEvent(event))
  let waiting: LogEvent[] | null = []
  const stopWaiting = eventLog.subscribe((event) => {
    if (!isWanted(event)) return
    if (waiting === null) send(event)
    else if (waiting.push(event) > MAX_WAITING) stream.drop()
  })
  unsubscribe.push(
    stopWaiting,
    outputs.subscribe((output) => {
      if (!wantsOutput || waiting !== null || (caseId !== null && output.case_id !== caseId)) return
      broadcast.flush()
      const data = JSON.stringify(outputEnvelope(output))
      stream.send({ event: 'session_output', data })
    }),
  )
  if (resume.kind === 'unknown' || (resume.kind === 'after' && !known)) {
    const envelope = { event_type: 'resync', timestamp: now(), payload: {} }
    stream.send({ event: 'resync', data: JSON.stringify(envelope) })
  }

  /** All that was told so far has been sent, and what comes is sent as it comes. */
  function goLive(): void {
    waiting = null
    if (caseId !== null || !stream.isOpen) return
    stopWaiting()
    unsubscribe.push(broadcast.subscribe(stream))
  }

  async function replay(after: number): Promise<void> {
    for await (const event of eventLog.read(after)) {
      if (!isWanted(event)) continue
      if (!send(event) || !(await stream.drained())) return
    }
    while (waiting !== null && waiting.length > 0) {
      const event = waiting.shift()!
      if (!send(event) || !(await stream.drained())) return
    }
    goLive()
  }

  if (resume.kind === 'now') goLive()
  else {
    replay(known ? resume.id : 0).catch((error: unknown) => {
      log(`the event log could not be read: ${String(error)}`)
      stream.drop()
    })
  }
  return stream.response
}

function isOfCase({ envelope }: LogEvent, caseId: string): boolean {
  if (!envelope.includes(caseId)) return false // most are of others, and need no parsing
  const { payload } = JSON.parse(envelope) as Envelope
  return payload.case_id === caseId
}
