import * as z from 'zod'
import { eventName } from './event-schemas.ts'
import type { JsonOf } from './json-schemas.ts'

/** Those that every delivery has (specification §6.4, Standard Webhooks). */
export const DELIVERY_HEADERS = {
  'X-Service-Event': z.string().describe('The type of the event.'),
  'X-Service-Signature': z
    .string()
    .regex(/^sha256=[0-9a-f]{64}$/)
    .describe('The HMAC-SHA256 of the bytes of the body; its key is the secret, as UTF-8.'),
  'webhook-id': z.string().describe('The same for every try: what came already can be told by it.'),
  'webhook-timestamp': z
    .string()
    .regex(/^[0-9]+$/)
    .describe('When it was sent, in seconds since 1970.'),
  'webhook-signature': z.string().describe('As Standard Webhooks has it.'),
}

/** What a webhook is sent of events of this type. */
export function deliveryOf(type: string, json: JsonOf) {
  const parameters = Object.keys(DELIVERY_HEADERS).map((name) => {
    const { description, ...schema } = json(`delivery ${name}`)
    return { name, in: 'header', required: true, description, schema }
  })
  return {
    post: {
      ...{ operationId: `on${eventName(type).replace(/Event$/, '')}`, tags: ['Webhooks'] },
      summary: type === 'ping' ? 'What a test sends' : `Tells of ${type}`,
      parameters,
      requestBody: {
        required: true,
        content: { 'application/json': { schema: json(`event ${type}`) } },
      },
      responses: {
        '2XX': { description: 'Within 15 s: it was taken.' },
        '410': { description: 'The webhook is disabled; nothing more is sent.' },
        '4XX': { description: 'It is tried again.' },
      },
    },
  }
}
