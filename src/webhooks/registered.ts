import type { EventLog } from '../events/event-log.ts'
import type { Attempt } from '../model/delivery.ts'
import { type Disabled, tidiedWebhook, type Webhook, webhookInLog } from '../model/webhook.ts'
import {
  type DeliveryJournal,
  openDeliveryJournal,
} from '../workspace/webhooks/delivery-journal.ts'
import { type Book, createBook } from './book.ts'
import type { Message } from './message.ts'
import type { Clock } from './needs.ts'
import type { Pace } from './pace.ts'
import { createReceiver, type Receiver } from './receiver.ts'
import type { Room } from './room.ts'

/** A webhook with all that is kept about it. */
export interface Registered {
  webhook: Webhook
  receiver: Receiver
  book: Book
  journal: DeliveryJournal
}

export interface RegisteredNeeds {
  journalPath(id: string): string
  write(webhook: Webhook): Promise<void>
  eventLog: EventLog
  send(webhook: Webhook, message: Message, signal: AbortSignal): Promise<Attempt>
  mayBegin(): boolean
  pace: Pace
  room: Room
  onDisabled(each: Registered, reason: Disabled['reason']): void
  onIdle(each: Registered): void
  clock: Clock
  random(): number
  now(): string
  log(line: string): void
}

/** Opens what is kept of a webhook's deliveries, and puts its receiver to work once it may begin. */
export async function openRegistered(webhook: Webhook, needs: RegisteredNeeds) {
  const { eventLog, clock, random, log, now } = needs
  const journal = await openDeliveryJournal(needs.journalPath(webhook.id), {
    startsAfter: webhook.starts_after,
    snapshot: () => ({ progress: each.receiver.progress(), deliveries: each.book.kept() }),
    ...{ log, now },
  })
  const book = createBook(journal.deliveries.splice(0))
  // numbers begin again where the log was lost
  const startsAfter = Math.min(journal.progress.cursor, eventLog.last)
  const receiver = createReceiver({
    ...{ journal, book, eventLog, startsAfter, clock, random, log },
    webhook: () => each.webhook,
    ...{ mayBegin: needs.mayBegin, pace: needs.pace, room: needs.room },
    send: (message, signal) => needs.send(each.webhook, message, signal),
    disable: (reason) => needs.onDisabled(each, reason),
    onIdle: () => needs.onIdle(each),
  })
  const counted = webhookInLog(webhook, eventLog.last)
  const tidied = tidiedWebhook(counted, clock.now(), startsAfter)
  const each: Registered = { webhook: tidied, receiver, book, journal }
  // both at once: later the numbers of a new log may have grown beyond the old ones
  if (JSON.stringify(tidied) !== JSON.stringify(webhook)) await needs.write(tidied)
  if (startsAfter < journal.progress.cursor) await receiver.sync()
  return each
}

/** Says which events a receiver that was left alone for long does not get any more. */
export function warnOfMissed(
  { webhook, receiver }: Registered,
  eventLog: EventLog,
  log: (line: string) => void,
) {
  const { cursor } = receiver.progress()
  const { first } = eventLog
  if (first > cursor + 1) {
    log(
      `webhook ${webhook.id} does not get the events ${cursor + 1} to ${first - 1}: the log holds them no more`,
    )
  }
}
