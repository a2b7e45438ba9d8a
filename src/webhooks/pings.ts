import { createKeyedMutex } from '../files/keyed-mutex.ts'
import type { Attempt } from '../model/delivery.ts'
import { stoppingRefusal } from '../model/refusal.ts'
import type { Webhook } from '../model/webhook.ts'
import type { Message } from './message.ts'

/** What a person sends to try a receiver. */
export interface Pings {
  /** In no log and no list, and tried once; one after the other for each webhook. */
  send(webhookId: string): Promise<{ id: string; attempt: Attempt }>
  /** Refuses those under way with `stopping`: a receiver may take its time. */
  stop(): void
}

interface PingNeeds {
  /** As it is registered now; refuses with `not_found`. */
  find(webhookId: string): { webhook: Webhook }
  send(webhook: Webhook, message: Message, signal: AbortSignal): Promise<Attempt>
  newId(): string
  now(): string
}

export function createPings({ find, send, newId, now }: PingNeeds): Pings {
  const stopping = new AbortController()
  const turns = createKeyedMutex()

  async function ping(webhookId: string) {
    stopping.signal.throwIfAborted()
    const { webhook } = find(webhookId)
    const payload = { webhook_id: webhook.id, case_id: webhook.case_id }
    const envelope = JSON.stringify({ event_type: 'ping', timestamp: now(), payload })
    const message = { id: `ping_${newId()}`, type: 'ping', envelope }
    return { id: message.id, attempt: await send(webhook, message, stopping.signal) }
  }

  return {
    async send(webhookId) {
      find(webhookId)
      return turns.run(webhookId, () => ping(webhookId))
    },
    stop: () => stopping.abort(stoppingRefusal()),
  }
}
