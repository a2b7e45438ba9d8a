import * as z from 'zod'
import { ALL_EVENTS, DEFAULT_EVENTS, FURTHER_EVENTS } from '../../model/webhook.ts'
import { schemaOf } from '../openapi/same-type.ts'
import type {
  serializeDelivery,
  serializeDeliveryWithEnvelope,
  serializeTest,
  WebhookJson,
} from '../webhook-serializers.ts'
import { count, id, time } from './primitives.ts'

const fields = z.object({
  id,
  case_id: id.nullable().describe('Null for a global one.'),
  url: z.string(),
  events: z.array(z.string().meta({ enum: [ALL_EVENTS, ...DEFAULT_EVENTS, ...FURTHER_EVENTS] })),
  active: z.boolean(),
  disabled: z
    .object({ reason: z.enum(['gone', 'failing']), at: time })
    .nullable()
    .describe('Why the service stopped sending by itself.'),
  retrying: count,
  dead: count,
  failing_since: time.nullable(),
  created_at: time,
  updated_at: time,
})

export const webhook = schemaOf<WebhookJson>()(fields).meta({ id: 'Webhook' })

export const webhookWithSecret = fields
  .extend({
    secret: z
      .exactOptional(z.string())
      .describe('One that the service generated, just now: it is shown in no other answer.'),
  })
  .meta({ id: 'WebhookWithSecret' })

const attempt = z.object({
  at: time,
  ms: z.number().min(0),
  status: z.int().nullable().describe('Null where no answer came.'),
  error: z.string().nullable(),
})

const sent = z.object({
  id: z.string().describe('The `webhook-id` that the receiver gets.'),
  event_id: z.int().min(1).describe("The event's number in the log."),
  event_type: z.string(),
  state: z.enum(['delivered', 'retrying', 'dead']),
  created_at: time,
  next_attempt_at: time.nullable(),
  attempts: z.array(attempt),
})

export const delivery = schemaOf<ReturnType<typeof serializeDelivery>>()(sent).meta({
  id: 'Delivery',
})

export const envelope = z
  .object({
    event_type: z.string(),
    timestamp: time,
    payload: z.record(z.string(), z.unknown()),
  })
  .meta({ id: 'Envelope', description: 'An event: exactly these three members.' })

export const wholeDelivery = schemaOf<ReturnType<typeof serializeDeliveryWithEnvelope>>()(
  sent.extend({ envelope }),
).meta({ id: 'DeliveryWithEnvelope' })

export const tested = schemaOf<ReturnType<typeof serializeTest>>()(
  z.object({
    id: z.string(),
    event_type: z.string(),
    delivered: z.boolean(),
    status: z.int().nullable(),
    error: z.string().nullable(),
    ms: z.number().min(0),
  }),
).meta({ id: 'TestDelivery' })
