import * as z from 'zod'
import type { EventName } from '../../model/events.ts'
import { signedHeaders } from '../../webhooks/message.ts'
import { eventName } from '../schemas/event.ts'
import { eventExample } from './examples.ts'
import type { Json, JsonSchemas } from './json-schemas.ts'

/** The secret that signs the examples, so that a receiver can be tested with them. */
const SECRET = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD'

/** The headers of every delivery: our own, and those of Standard Webhooks. */
export const DELIVERY_HEADERS = {
  'X-Service-Event': z.string().describe('The type of the event.'),
  'X-Service-Signature': z
    .string()
    .regex(/^sha256=[0-9a-f]{64}$/)
    .describe(
      `The HMAC-SHA256 of the body; the key is the secret in UTF-8. In the examples the secret is \`${SECRET}\`, and the body is the example as JSON without white space.`,
    ),
  'webhook-id': z
    .string()
    .describe(
      'The same for every attempt, so that a receiver can recognize a delivery it already has.',
    ),
  'webhook-timestamp': z
    .string()
    .regex(/^[0-9]+$/)
    .describe('When it was sent, in seconds since 1970-01-01 UTC.'),
  'webhook-signature': z
    .string()
    .describe(
      'The signatures as Standard Webhooks defines them, separated by blanks: each is `v1,` and an HMAC-SHA256 in base64.',
    ),
}

/** The delivery of an event of this type. */
export function deliveryOf(type: EventName, json: JsonSchemas['json']) {
  const event = eventExample(type)
  const sent = headersOf(type, event)
  const parameters = Object.keys(DELIVERY_HEADERS).map((name) => {
    const { description, ...schema } = json(`delivery ${name}`)
    const example = sent[name]
    return { name, in: 'header', required: true, description, schema, example }
  })
  return {
    post: {
      operationId: `on${eventName(type).replace(/Event$/, '')}`,
      tags: ['Webhooks'],
      summary: type === 'ping' ? 'A ping, sent by a test' : `The event ${type}`,
      parameters,
      requestBody: {
        required: true,
        content: {
          'application/json': {
            schema: json(`event ${type}`),
            example: event,
          },
        },
      },
      responses: {
        '2XX': { description: 'Delivered, if it comes within 15 s.' },
        '410': { description: 'The service disables the webhook and sends nothing more.' },
        '4XX': { description: 'The service tries again later, as after any other response.' },
      },
    },
  }
}

/** The headers of an example. Its body is the event as JSON without white space. */
function headersOf(type: string, event: Json): Record<string, string> {
  const id =
    type === 'ping' ? 'ping_2f6d8f0e-4c1b-4d7e-9a55-0c9be1a7c3d2' : 'evt_61_857bf4a7f89d8b72'
  const at = Date.parse(String(event.timestamp))
  return signedHeaders({
    id,
    type,
    body: Buffer.from(JSON.stringify(event)),
    secrets: [SECRET],
    at,
  })
}
