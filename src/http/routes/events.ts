import * as z from 'zod'
import { type Envelope, outputEnvelope } from '../../events/envelope.ts'
import type { LogEvent } from '../../events/event-log.ts'
import type { ServiceContext } from '../context.ts'
import { type EndpointDeps, endpoint } from '../endpoint.ts'
import { caseInQuery, resuming } from '../schemas/query.ts'
import { streamEvent } from '../sse/broadcast.ts'
import { openEventStream, readResumePoint } from '../sse/event-stream.ts'

/** Live events that wait for the end of the replay. A client with more of them is too slow. */
const MAX_WAITING = 10_000

export const eventEndpoints = [
  endpoint({
    route: 'GET /events',
    id: 'streamEvents',
    tag: 'Events',
    summary: 'Stream all events',
    description:
      'Sends server-sent events of all cases or of one: first those after the given id, then live ones. Without an id it begins with the oldest event in the log. An id of another log, such as one from before the state folder was lost, gets `resync` and all events.',
    query: {
      after: z.string().optional().describe('The id to resume after, or `now`.'),
      case: caseInQuery,
      output: z
        .literal('no', { error: 'expected no, which leaves out the output of steps' })
        .optional()
        .meta({ description: '`no` leaves out the output of steps.', examples: ['no'] }),
    },
    headers: resuming.headers,
    responses: {
      200: { description: 'The events of the log.', events: 'LogEvent' },
    },
    handle: ({ c, service, query }) => streamEvents(c, service, query),
  }),
]

/**
 * Sends every event of the log after a point, then live ones. The id of an event names its log and its number there,
 * also with `case`, which leaves out the others.
 */
export function streamEvents(
  c: ServiceContext,
  service: EndpointDeps,
  query: { case?: string | undefined; output?: 'no' | undefined },
): Response {
  const { streams: registry, broadcast } = service
  const caseId = query.case ?? null
  const wantsOutput = query.output === undefined
  const { eventLog, outputs, now, log } = service
  // a browser that reconnects to the same address sends the last id that it got
  const isFromNow = c.req.query('after') === 'now' && !c.req.header('last-event-id')
  const resume = isFromNow ? { kind: 'now' as const } : readResumePoint(c, eventLog.find)
  const unsubscribe: (() => void)[] = []
  const stream = openEventStream(c, {
    registry,
    onClose: () => {
      for (const undo of unsubscribe) undo()
    },
  })
  const isWanted = (event: LogEvent) => caseId === null || isOfCase(event, caseId)
  const send = (event: LogEvent) => stream.send(streamEvent(event, eventLog))
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
  if (resume.kind === 'unknown') {
    const envelope = { event_type: 'resync', timestamp: now(), payload: {} }
    stream.send({ event: 'resync', data: JSON.stringify(envelope) })
  }

  /** All past events have been sent; new ones are sent as they come. */
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
    replay(resume.kind === 'after' ? resume.id : 0).catch((error: unknown) => {
      log(`the event log could not be read: ${String(error)}`)
      stream.drop()
    })
  }
  return stream.response
}

function isOfCase({ envelope }: LogEvent, caseId: string): boolean {
  if (!envelope.includes(caseId)) return false // most are of other cases, and need no parsing
  const { payload } = JSON.parse(envelope) as Envelope
  return payload.case_id === caseId
}
