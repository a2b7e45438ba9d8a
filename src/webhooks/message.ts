/** Builds the message that a webhook delivery sends, signs its headers, and decides which webhooks get an event. */

import { createHash, createHmac, randomBytes } from 'node:crypto'
import { Webhook as Signer } from 'standardwebhooks'
import type { LogEvent } from '../events/event-log.ts'
import type { Delivery } from '../model/delivery.ts'
import { type Webhook, wantsType } from '../model/webhook.ts'

/** What a delivery signs and sends. */
export type Message = Pick<Delivery, 'id' | 'type' | 'envelope'>

/**
 * The `webhook-id` of an event: its number in the event log, by which a receiver can sort events, and a part of its
 * hash. The hash is there because numbers start at 1 again when the state folder is lost.
 */
export function messageId({ id, envelope }: LogEvent): string {
  const hash = createHash('sha256').update(`${id}\n${envelope}`).digest('hex')
  return `evt_${id}_${hash.slice(0, 16)}`
}

/** Creates the delivery of an event, before the first attempt. */
export function newDelivery(event: LogEvent): Delivery {
  return {
    id: messageId(event),
    event: event.id,
    type: event.type,
    envelope: event.envelope,
    state: 'retrying',
    attempts: [],
    tries: 0,
    next_at: null,
  }
}

/** Whether this webhook gets the event. */
export function matches(webhook: Webhook, { type, envelope }: LogEvent): boolean {
  if (!wantsType(webhook, type)) return false
  return webhook.case_id === null || caseOf(envelope) === webhook.case_id
}

function caseOf(envelope: string): unknown {
  const { payload } = JSON.parse(envelope) as { payload: Record<string, unknown> }
  return payload.case_id
}

export interface Signing {
  /** Value of the `webhook-id` header. */
  id: string
  /** The event's type. */
  type: string
  /** The body as it is sent, in UTF-8. */
  body: Buffer
  /** At least one, the primary first. The others sign too, but only in `webhook-signature`. */
  secrets: readonly string[]
  /** Time of sending, in milliseconds since 1970. */
  at: number
}

/**
 * Returns the headers that name the event and prove who sent it: `X-Service-Event` and `X-Service-Signature`, and the
 * three headers of Standard Webhooks 1.0.0.
 */
export function signedHeaders({ id, type, body, secrets, at }: Signing): Record<string, string> {
  const [primary] = secrets
  if (primary === undefined) throw new TypeError('no secret to sign with')
  const signatures = secrets.map((secret) => createSigner(secret).sign(id, new Date(at), body))
  return {
    'X-Service-Event': type,
    'X-Service-Signature': `sha256=${createHmac('sha256', primary).update(body).digest('hex')}`,
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at / 1000)),
    'webhook-signature': signatures.join(' '),
  }
}

/** Generates a secret of 24 bytes; Standard Webhooks requires 24 to 64. */
export function newSecret(): string {
  return `${PREFIX}${randomBytes(24).toString('base64')}`
}

const PREFIX = 'whsec_'

/**
 * A secret with the prefix `whsec_` contains its key in base64. Any other secret is used as its UTF-8 bytes, and so
 * is one with the prefix but without valid base64, because a user may choose any text.
 */
function createSigner(secret: string): Signer {
  const encoded = secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : ''
  // always bytes: given a string, the package uses one byte per UTF-16 unit
  const key = BASE64.test(encoded) ? Buffer.from(encoded, 'base64') : Buffer.from(secret)
  return new Signer(key, { format: 'raw' })
}

/** At least one byte. Padding is optional, as in receivers that use the same package. */
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2,4}|[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)$/
