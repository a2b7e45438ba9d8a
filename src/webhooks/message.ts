import { createHash } from 'node:crypto'
import type { LogEvent } from '../events/event-log.ts'
import type { Delivery } from '../model/delivery.ts'
import { type Webhook, wantsType } from '../model/webhook.ts'

/**
 * The `webhook-id` of an event: its number in the log, so that a receiver can put events in order,
 * and a part of its hash, since numbers begin again at 1 when the state folder was lost.
 */
export function messageId({ id, envelope }: LogEvent): string {
  const hash = createHash('sha256').update(`${id}\n${envelope}`).digest('hex')
  return `evt_${id}_${hash.slice(0, 16)}`
}

/** What is signed and sent. */
export type Message = Pick<Delivery, 'id' | 'type' | 'envelope'>

/** An event on its way to a receiver, before the first try. */
export function newDelivery(event: LogEvent): Delivery {
  const { id, type, envelope } = event
  const message = { id: messageId(event), event: id, type, envelope }
  return { ...message, state: 'retrying', attempts: [], tries: 0, next_at: null }
}

/** Whether a webhook gets this event. */
export function wants(webhook: Webhook, { id, type, envelope }: LogEvent): boolean {
  if (!wantsType(webhook, type, id)) return false
  return webhook.case_id === null || caseOf(envelope) === webhook.case_id
}

function caseOf(envelope: string): unknown {
  const { payload } = JSON.parse(envelope) as { payload: Record<string, unknown> }
  return payload.case_id
}
