import { Refusal } from '../model/refusal.ts'
import type { Disabled, Webhook } from '../model/webhook.ts'

/** In words, for the log and for refusals. */
export const WHY_DISABLED: Record<Disabled['reason'], string> = {
  gone: 'its receiver answered 410 Gone',
  failing: 'for five days there was nothing but failures',
}

/** For the log. */
export function lostJournal({ id }: Webhook): string {
  return `webhook ${id}: what it was sent already is lost, so all since its registration that the event log holds is sent again, with the same ids`
}

export function unknownWebhook(id: string): Refusal {
  return new Refusal('not_found', `There is no webhook ${id}. GET /webhooks lists those there are.`)
}

export function tooMany(limit: number): Refusal {
  const advice = 'Delete some that are not needed any more; GET /webhooks lists them.'
  return new Refusal('wrong_state', `There are ${limit} webhooks already. ${advice}`)
}

export function notKept(id: string, deliveryId: string): Refusal {
  const message = `Webhook ${id} has no delivery ${deliveryId.slice(0, 80)}, or has it no more. GET /webhooks/${id}/deliveries lists those that are kept.`
  return new Refusal('not_found', message)
}

export function notActive({ id, disabled }: Webhook): Refusal {
  const state = disabled ? `was disabled (${WHY_DISABLED[disabled.reason]})` : 'is paused'
  const message = `Webhook ${id} ${state}, so nothing is sent to it. Resume it first: PATCH /webhooks/${id} with {"active": true}.`
  return new Refusal('wrong_state', message)
}
