import type { Attempt } from '../model/delivery.ts'
import { stoppingRefusal } from '../model/refusal.ts'
import type { Webhook } from '../model/webhook.ts'
import { createKeyedMutex } from '../workspace/keyed-mutex.ts'
import type { Message } from './message.ts'

/** What a person sends to try a receiver. */
export interface Pings {
  /** In no log and no list, and tried once; one after the other for each webhook. */
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
  const turns = createKeyedMutex()

  async function ping(webhook: Webhook) {
    stopping.signal.throwIfAborted()
    const payload = { webhook_id: webhook.id, case_id: webhook.case_id }
    const envelope = JSON.stringify({ event_type: 'ping', timestamp: now(), payload })
    const message = { id: `ping_${newId()}`, type: 'ping', envelope }
    return { id: message.id, attempt: await send(webhook, message, stopping.signal) }
  }

  return {
    send: (webhook) => turns.run(webhook.id, () => ping(webhook)),
    stop: () => stopping.abort(stoppingRefusal()),
  }
}
