import * as z from 'zod'
import { Refusal } from '../../model/refusal.ts'
import {
  ALL_EVENTS,
  DEFAULT_EVENTS,
  FURTHER_EVENTS,
  type WebhookChange,
} from '../../model/webhook.ts'

const NAMES: readonly string[] = [ALL_EVENTS, ...DEFAULT_EVENTS, ...FURTHER_EVENTS]
const MAX_SECRET = 1000

/** Names that exist elsewhere, so that "unknown" would puzzle. */
const NOT_SENT: ReadonlyMap<unknown, string> = new Map([
  [
    'session_output',
    'session_output goes to no webhook, as it is not kept in the log; read GET /events or the stream of the session',
  ],
  ['ping', 'ping is what POST …/test sends to any webhook, whatever its events'],
])

const eventName = z
  .string()
  .refine((name) => NAMES.includes(name), {
    error: ({ input }) => {
      const all = NAMES.map((name) => JSON.stringify(name)).join(', ')
      return NOT_SENT.get(input) ?? `expected one of ${all}`
    },
  })
  .meta({ enum: [...NAMES] })
const events = z
  .array(eventName)
  .min(1, 'expected at least one name; without events it is ["*"]')
  .max(100)
  .transform((names): readonly string[] => [...new Set(names)])

/** Looked at by `secretIn`; null asks for a generated one. */
const secret = z
  .unknown()
  .optional()
  .meta({ type: ['string', 'null'], minLength: 1, maxLength: MAX_SECRET })

export const newWebhookSchema = z.object({
  url: z.string(),
  events: events.nullish(),
  secret,
  active: z.boolean().default(true),
})

export const webhookChangeSchema = z.object({
  url: z.string().optional(),
  events: events.nullish(),
  secret,
  active: z.boolean().optional(),
})

/** Of a body; null asks for a generated one. A schema's refusal would show what came. */
export function secretIn({ secret }: { secret?: unknown }): string | null | undefined {
  if (secret === undefined || secret === null) return secret
  const isText = typeof secret === 'string'
  if (isText && secret !== '' && secret.length <= MAX_SECRET) return secret
  const came = isText ? `one of ${secret.length}` : `another type of value`
  const message = `expected a string of 1 to ${MAX_SECRET} characters; got ${came}`
  throw new Refusal('bad_request', `secret: ${message}.`, { errors: [{ path: 'secret', message }] })
}

/** What a PATCH asks for; refuses with `bad_request` when that is nothing. */
export function changeIn(
  body: z.infer<typeof webhookChangeSchema>,
  newSecret: () => string,
): WebhookChange {
  const change: WebhookChange = {}
  if (body.url !== undefined) change.url = body.url
  if (body.events !== undefined) change.events = body.events ?? [ALL_EVENTS]
  if (body.active !== undefined) change.active = body.active
  const secret = secretIn(body)
  if (secret !== undefined) change.secret = secret ?? newSecret()
  if (Object.keys(change).length > 0) return change
  const message = 'Nothing to update: name at least one of url, events, secret, active.'
  throw new Refusal('bad_request', message)
}
