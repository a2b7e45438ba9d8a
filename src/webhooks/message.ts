/** The bytes and signed headers of a delivery, and which webhooks an event is for. */

import { createHash, createHmac, randomBytes } from 'node:crypto'
import { Webhook as Signer } from 'standardwebhooks'
import type { LogEvent } from '../events/event-log.ts'
import type { Delivery } from '../model/delivery.ts'
import { type Webhook, wantsType } from '../model/webhook.ts'

/** What is signed and sent. */
export type Message = Pick<Delivery, 'id' | 'type' | 'envelope'>

/**
 * The `webhook-id` of an event: its number in the log, so that a receiver can put events in order,
 * and a part of its hash, since numbers begin again at 1 when the state folder was lost.
 */
export function messageId({ id, envelope }: LogEvent): string {
  const hash = createHash('sha256').update(`${id}\n${envelope}`).digest('hex')
  return `evt_${id}_${hash.slice(0, 16)}`
}

/** An event before the first attempt to deliver it. */
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

/** Whether a webhook gets this event. */
export function matches(webhook: Webhook, { id, type, envelope }: LogEvent): boolean {
  if (!wantsType(webhook, type, id)) return false
  return webhook.case_id === null || caseOf(envelope) === webhook.case_id
}

function caseOf(envelope: string): unknown {
  const { payload } = JSON.parse(envelope) as { payload: Record<string, unknown> }
  return payload.case_id
}

export interface Signing {
  /** Goes into `webhook-id`. */
  id: string
  /** The event's type. */
  type: string
  /** UTF-8 text, as it is sent. */
  body: Buffer
  /** One at least, the primary first; those after it sign too, in `webhook-signature` alone. */
  secrets: readonly string[]
  /** When it is sent, in milliseconds since 1970. */
  at: number
}

/**
 * The headers that say what is delivered and prove who sent it: the specification's two (§6.4), and
 * the three of Standard Webhooks 1.0.0.
 */
export function signedHeaders({ id, type, body, secrets, at }: Signing): Record<string, string> {
  const [primary] = secrets
  if (primary === undefined) throw new TypeError('no secret to sign with')
  const signatures = secrets.map((secret) => signerOf(secret).sign(id, new Date(at), body))
  return {
    'X-Service-Event': type,
    'X-Service-Signature': `sha256=${createHmac('sha256', primary).update(body).digest('hex')}`,
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at / 1000)),
    'webhook-signature': signatures.join(' '),
  }
}

/** Standard Webhooks asks for 24 to 64 bytes. */
export function newSecret(): string {
  return `${PREFIX}${randomBytes(24).toString('base64')}`
}

const PREFIX = 'whsec_'

/**
 * After the prefix stands the key in base64. Any other secret is taken by its UTF-8 bytes, and so is
 * one with the prefix that holds no key: an owner may choose whatever text.
 */
function signerOf(secret: string): Signer {
  const encoded = secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : ''
  // Bytes in both cases: of a text the package would take one byte of each UTF-16 unit.
  const key = BASE64.test(encoded) ? Buffer.from(encoded, 'base64') : Buffer.from(secret)
  return new Signer(key, { format: 'raw' })
}

/** One byte at least. Without its padding too, as receivers with the same package decode it. */
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2,4}|[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)$/
