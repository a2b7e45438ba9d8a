import { AppError, type ErrorCode } from '../../model/app-error.ts'
import type { EventRow } from '../../model/event-row.ts'
import { EVENTS, type EventName } from '../../model/events.ts'
import { ERRORS } from '../errors.ts'
import { problemJson } from '../problem-json.ts'
import { caseIdParam, proofIdParam, sessionIdParam, webhookIdParam } from '../schemas/params.ts'
import { exampleOf } from '../schemas/primitives.ts'
import type { Json } from './json-schemas.ts'

/** An error response with this code; null if it has no additional members. */
export function errorExample(code: ErrorCode): Json | null {
  const { example } = ERRORS[code]
  if (!example) return null
  const { detail, errors = [], ...extra } = example
  return problemJson(new AppError(code, detail, { errors, extra }))
}

const OF_SESSION = { case_id: exampleOf(caseIdParam), session_id: exampleOf(sessionIdParam) }
const IDS: Json = {
  ...OF_SESSION,
  proof_id: exampleOf(proofIdParam),
  webhook_id: exampleOf(webhookIdParam),
}

/** An event of this type, as webhooks and streams send it. */
export function eventExample(type: EventName): Json {
  const { of, fields, example }: EventRow = EVENTS[type]
  const ids = Object.entries(IDS).filter(([name]) => name in fields)
  return {
    event_type: type,
    timestamp: '2026-11-21T09:00:00.000Z',
    payload: {
      ...Object.fromEntries(ids),
      ...example,
      ...(of === 'entry' ? OF_SESSION : {}),
    },
  }
}

/** The beginning of the stream of a session; the stream of all events has such events too. */
export const STREAM_EXAMPLE = (
  ['session_created', 'context_loaded', 'session_state_changed'] as const
)
  .map((type, index) => {
    const data = JSON.stringify(eventExample(type))
    return `event: ${type}\nid: ${index + 1}\ndata: ${data}\n\n`
  })
  .join('')
