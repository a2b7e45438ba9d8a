import * as z from 'zod'
import { ENTRY_EVENTS, WEBHOOK_EVENTS } from '../../model/event-lookup.ts'
import { EVENTS, type EventName } from '../../model/events.ts'
import { id, time } from '../../model/schemas.ts'
import type { Json } from '../openapi/json-schemas.ts'

/** The name of the component that describes an event, such as `CaseCreatedEvent`. */
export function eventName(type: string): string {
  return `${type.replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase())}Event`
}

function event(type: string, payload: z.ZodType): z.ZodType {
  return z
    .object({ event_type: z.literal(type), timestamp: time, payload })
    .meta({ id: eventName(type), description: `The event \`${type}\`.` })
}

/**
 * Every event of the log, of webhooks and of streams, by its type. An entry of an audit trail may have more members, and
 * the log may have events of another version that are not listed.
 */
export const EVENT_SCHEMAS: ReadonlyMap<string, z.ZodType> = new Map(
  Object.entries(EVENTS).map(([type, { of, fields }]) => [
    type,
    event(type, payloadOf(of, fields)),
  ]),
)

function payloadOf(of: (typeof EVENTS)[EventName]['of'], fields: z.core.$ZodShape): z.ZodType {
  if (of === 'entry') return z.looseObject({ ...fields, case_id: id, session_id: id })
  return z.object(fields)
}

/** What webhooks are sent: the events that one can register for, and the ping of a test. */
export const SENT_EVENTS: readonly EventName[] = [...WEBHOOK_EVENTS, 'ping']
/** The event types of each stream, by the component for any event of it. */
export const STREAMED = {
  LogEvent: [...EVENT_SCHEMAS.keys()],
  SessionEvent: [...ENTRY_EVENTS, 'session_output', 'resync', 'ping'],
} as const satisfies Record<string, readonly string[]>

export type Streamed = keyof typeof STREAMED

/** The component for any event of a stream; `event_type` says which. */
export function anyOfThem(streamed: Streamed): Json {
  const refs = STREAMED[streamed].map((type) => [type, `#/components/schemas/${eventName(type)}`])
  return {
    description:
      'The JSON in the `data` line of an event. Its `event` line has the same value as `event_type`.',
    oneOf: refs.map(([, $ref]) => ({ $ref })),
    discriminator: { propertyName: 'event_type', mapping: Object.fromEntries(refs) },
  }
}
