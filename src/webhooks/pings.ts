import type { Attempt } from '../model/delivery.ts'
import { stoppingRefusal } from '../model/refusal.ts'
import type { Webhook } from '../model/webhook.ts'
import type { Message } from './message.ts'

/** What a person sends to try a receiver. */
export interface Pings {
  /** In no log and no list, and tried once. */
  send(webhook: Webhook): Promise<{ id: string; attempt: Attempt }>
  /** Refuses those under way with `stopping`: a receiver may take its time. */
  stop(): void
}

interface PingNeeds {
  send(webhook: Webhook, message: Message, signal: AbortSignal): Promise<Attempt>
  newId(): string
  now(): string
}

export function createPings({ send, newId, now }: PingNeeds): Pings {
  const stopping = new AbortController()
  return {
    async send(webhook) {
      const payload = { webhook_id: webhook.id, case_id: webhook.case_id }
      const envelope = JSON.stringify({ event_type: 'ping', timestamp: now(), payload })
      const message = { id: `ping_${newId()}`, type: 'ping', envelope }
      return { id: message.id, attempt: await send(webhook, message, stopping.signal) }
    },
    stop: () => stopping.abort(stoppingRefusal()),
  }
}
