import * as z from 'zod'
import { signedHeaders } from '../../webhooks/message.ts'
import { eventName } from '../schemas/event.ts'
import { EXAMPLES } from './examples.ts'
import type { Json, JsonOf } from './json-schemas.ts'

/** What signs the examples: so a receiver can be tried with them. */
const SECRET = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD'

/** Those that every delivery has (specification §6.4, Standard Webhooks). */
export const DELIVERY_HEADERS = {
  'X-Service-Event': z.string().describe('The type of the event.'),
  'X-Service-Signature': z
    .string()
    .regex(/^sha256=[0-9a-f]{64}$/)
    .describe(
      `The HMAC-SHA256 of the bytes of the body; its key is the secret, as UTF-8. In the examples the secret is \`${SECRET}\`, and the body the example as JSON without blanks.`,
    ),
  'webhook-id': z.string().describe('The same for every try: what came already can be told by it.'),
  'webhook-timestamp': z
    .string()
    .regex(/^[0-9]+$/)
    .describe('When it was sent, in seconds since 1970.'),
  'webhook-signature': z.string().describe('As Standard Webhooks has it.'),
}

/** What a webhook is sent of events of this type. */
export function deliveryOf(type: string, json: JsonOf) {
  const event = EXAMPLES.deliveries[type]
  const sent = event ? headersOf(type, event) : {}
  const parameters = Object.keys(DELIVERY_HEADERS).map((name) => {
    const { description, ...schema } = json(`delivery ${name}`)
    const example = sent[name] === undefined ? {} : { example: sent[name] }
    return { name, in: 'header', required: true, description, schema, ...example }
  })
  return {
    post: {
      operationId: `on${eventName(type).replace(/Event$/, '')}`,
      tags: ['Webhooks'],
      summary: type === 'ping' ? 'What a test sends' : `Tells of ${type}`,
      parameters,
      requestBody: {
        required: true,
        content: {
          'application/json': {
            schema: json(`event ${type}`),
            ...(event ? { example: event } : {}),
          },
        },
      },
      responses: {
        '2XX': { description: 'Within 15 s: it was taken.' },
        '410': { description: 'The webhook is disabled; nothing more is sent.' },
        '4XX': { description: 'It is tried again.' },
      },
    },
  }
}

/** Of an example: its body is the event as JSON without blanks. */
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
