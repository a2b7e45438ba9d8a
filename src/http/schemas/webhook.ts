import * as z from 'zod'
import { AppError } from '../../model/app-error.ts'
import { DELIVERY_STATES } from '../../model/delivery.ts'
import { DEFAULT_EVENTS, WEBHOOK_EVENTS } from '../../model/event-lookup.ts'
import { count, id, time } from '../../model/schemas.ts'
import { NOTIFY_KINDS } from '../../model/settings.ts'
import { ALL_EVENTS, type WebhookChange } from '../../model/webhook.ts'
import { nearestName } from './nearest-name.ts'
import { caseIdParam, deliveryIdParam, webhookIdParam } from './params.ts'
import { atLeastOne, exampleOf, type JsonOf } from './primitives.ts'

const NAMES: readonly string[] = [ALL_EVENTS, ...WEBHOOK_EVENTS]
const MAX_SECRET = 1000

/** Events that exist but are not sent to webhooks; "unknown" would confuse. */
const NOT_SENT: ReadonlyMap<unknown, string> = new Map([
  [
    'session_output',
    'session_output is not sent to webhooks, because the log does not keep it; read GET /events or the stream of the session',
  ],
  ['ping', 'ping is sent by POST …/test to any webhook, whatever its events'],
])

function unknownEvent(name: string): string {
  const nearest = nearestName(name, NAMES)
  const hint = nearest === null ? '' : ` (did you mean ${nearest}?)`
  return `expected * or the name of an event${hint}; WebhookEvent in /openapi.json has them all`
}

const eventName = z
  .string()
  .refine((name) => NAMES.includes(name), {
    error: ({ input }) => NOT_SENT.get(input) ?? unknownEvent(String(input)),
  })
  .meta({ id: 'WebhookEvent', enum: [...NAMES] })
const events = z
  .array(eventName)
  .min(1, 'expected at least one name; without events it is ["*"]')
  .max(100)
  .overwrite((names) => [...new Set(names)])

/** Checked by `secretIn`: an error of zod would show the value. Null asks for a generated one. */
const secret = z
  .unknown()
  .optional()
  .meta({ type: ['string', 'null'], minLength: 1, maxLength: MAX_SECRET })

export const newWebhookSchema = z
  .object({
    url: z.string().describe('An `http` or `https` URL, but not of this service.'),
    events: events
      .nullish()
      .describe(`Which events it gets. By default \`*\`: ${DEFAULT_EVENTS.join(', ')}.`),
    secret: secret.describe('Signs the deliveries. By default the service generates one.'),
    // no `default`: openapi-typescript would make the field required
    active: z.boolean().optional().describe('`true` by default.'),
  })
  .meta({
    id: 'NewWebhook',
    examples: [{ url: 'http://127.0.0.1:9000/hook', events: ['memory_updated'] }],
  })

export const webhookUpdateSchema = atLeastOne(
  z.object({
    url: z.string().optional(),
    events: events.nullish().describe('Null is the same as `*`.'),
    secret: secret.describe('With null, the service generates a new one.'),
    active: z.boolean().optional().describe('`false` pauses it, `true` resumes it.'),
  }),
).meta({ id: 'WebhookUpdate', examples: [{ events: ['memory_updated'] }] })

/** The secret in a body, checked; null asks for a generated one. */
export function secretIn({ secret }: { secret?: unknown }): string | null | undefined {
  if (secret === undefined || secret === null) return secret
  const isText = typeof secret === 'string'
  if (isText && secret !== '' && secret.length <= MAX_SECRET) return secret
  const came = isText ? `${secret.length} characters` : 'another type'
  const message = `expected a string of 1 to ${MAX_SECRET} characters; got ${came}`
  throw new AppError('bad_request', `secret: ${message}.`, {
    errors: [{ path: 'secret', message }],
  })
}

/** The change that a PATCH asks for. */
export function changeIn(
  body: z.infer<typeof webhookUpdateSchema>,
  newSecret: () => string,
): WebhookChange {
  const change: WebhookChange = {}
  if (body.url !== undefined) change.url = body.url
  if (body.events !== undefined) change.events = body.events ?? [ALL_EVENTS]
  if (body.active !== undefined) change.active = body.active
  const secret = secretIn(body)
  if (secret !== undefined) change.secret = secret ?? newSecret()
  return change
}

const fields = z.object({
  id,
  case_id: id.nullable().describe('Null for a global webhook.'),
  url: z.string(),
  notify: z
    .exactOptional(z.enum(NOTIFY_KINDS))
    .describe(
      'It is an entry of `notify` in casefile.md, of this kind. Of its URL only the host is shown.',
    ),
  events: z.array(eventName),
  active: z.boolean().describe('False while it is paused or disabled.'),
  disabled: z
    .object({ reason: z.enum(['gone', 'failing']), at: time })
    .nullable()
    .describe('Why the service disabled it: the receiver answered 410, or failed for five days.'),
  retrying: count.describe('How many failed deliveries will be retried.'),
  dead: count.describe('How many deliveries were given up.'),
  failing_since: time
    .nullable()
    .describe('Since when every delivery has failed; null while the receiver accepts them.'),
  created_at: time,
  updated_at: time,
})

const WEBHOOK = {
  id: exampleOf(webhookIdParam),
  case_id: null,
  url: 'http://127.0.0.1:9000/hook',
  events: ['memory_updated'],
  active: true,
  disabled: null,
  retrying: 0,
  dead: 0,
  failing_since: null,
  created_at: '2026-11-21T09:00:00.000Z',
  updated_at: '2026-11-21T09:00:00.000Z',
}

export const webhook = fields.meta({ id: 'Webhook', examples: [WEBHOOK] })

export const webhookWithSecret = fields
  .extend({
    secret: z
      .exactOptional(z.string())
      .describe('A newly generated secret. No other response contains it.'),
  })
  .meta({
    id: 'WebhookWithSecret',
    examples: [{ ...WEBHOOK, secret: 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD' }],
  })

const attempt = z
  .object({
    at: time,
    ms: z.number().min(0).describe('How long it took, in milliseconds.'),
    status: z.int().nullable().describe('The status of the response; null if there was none.'),
    error: z.string().nullable().describe('Why it failed; null if it succeeded.'),
  })
  .meta({ id: 'DeliveryAttempt' })

/** Also a filter, with an error of its own. */
export const deliveryState = z
  .enum(DELIVERY_STATES, { error: `expected one of ${DELIVERY_STATES.join(', ')}` })
  .meta({ id: 'DeliveryState', description: '`dead`: given up after the last retry.' })

export const envelope = z
  .object({
    event_type: z.string(),
    timestamp: time,
    payload: z.record(z.string(), z.unknown()),
  })
  .meta({ id: 'Envelope', description: 'An event.' })

export const delivery = z
  .object({
    id: z.string().describe('The `webhook-id` that the receiver gets.'),
    event_id: z.int().min(1).describe("The event's number in the log."),
    event_type: z.string(),
    state: deliveryState,
    created_at: time.describe('The timestamp of the event.'),
    next_attempt_at: time.nullable().describe('Null if no attempt is planned.'),
    attempts: z.array(attempt).describe('The newest 20, oldest first.'),
    envelope,
  })
  .meta({
    id: 'Delivery',
    examples: [
      {
        id: exampleOf(deliveryIdParam),
        event_id: 61,
        event_type: 'memory_updated',
        state: 'delivered',
        created_at: '2026-11-21T09:00:00.000Z',
        next_attempt_at: null,
        attempts: [
          {
            at: '2026-11-21T09:00:00.000Z',
            ms: 3,
            status: 200,
            error: null,
          },
        ],
        envelope: {
          event_type: 'memory_updated',
          timestamp: '2026-11-21T09:00:00.000Z',
          payload: { case_id: exampleOf(caseIdParam), filename: 'notes.md' },
        },
      },
    ],
  })

export const tested = z
  .object({
    id: z.string().describe('The `webhook-id` that the receiver got.'),
    event_type: z.string(),
    delivered: z.boolean().describe('Whether the receiver responded with 2xx.'),
    status: z.int().nullable().describe('Null if there was no response.'),
    error: z.string().nullable().describe('Why it failed; null if it succeeded.'),
    ms: z.number().min(0).describe('How long it took, in milliseconds.'),
  })
  .meta({
    id: 'TestDelivery',
    examples: [
      {
        id: 'ping_c03a8b8f-b979-4649-8099-484e49f1ebe4',
        event_type: 'ping',
        delivered: true,
        status: 200,
        error: null,
        ms: 3,
      },
    ],
  })

export type WebhookJson = JsonOf<typeof webhook>
export type WebhookWithSecretJson = JsonOf<typeof webhookWithSecret>
export type DeliveryJson = JsonOf<typeof delivery>
export type TestDeliveryJson = JsonOf<typeof tested>
