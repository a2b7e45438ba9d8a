/** The webhooks of the service: one delivery loop (`receiver.ts`) for each registration, fed by the event log. */

import type { EventLog } from '../events/event-log.ts'
import { createKeyedMutex } from '../files/keyed-mutex.ts'
import { AppError, stoppingError } from '../model/app-error.ts'
import type { Attempt, Delivery, DeliveryState } from '../model/delivery.ts'
import { type Disabled, secretsOf, type Webhook, type WebhookChange } from '../model/webhook.ts'
import type { Database } from '../state/database.ts'
import { createWebhookStore, type DeliveryQuery, type WebhookRecord } from '../state/webhooks.ts'
import { type Clock, systemClock } from './clock.ts'
import { type Message, signedHeaders } from './message.ts'
import { createReceiver, type Receiver } from './receiver.ts'
import { createRegistrations, type NewWebhook } from './registrations.ts'
import { createRetryLimits } from './retry-limits.ts'
import { createSender, type Sender } from './sender.ts'

export interface ReceiverStatus {
  /** Deliveries that failed and are tried again. */
  retrying: number
  /** Those that are tried no more. */
  dead: number
  /** Its next event lies behind this id in the log. */
  cursor: number
  /** Since when there was nothing but failures (ISO 8601); null while it answers. */
  failing_since: string | null
}

/** All webhooks in numbers, those of cases included. */
export interface WebhookSummary {
  active: number
  paused: number
  disabled: number
  /** Active ones with nothing but failures since some time. */
  failing: number
}

/** The registered receivers, and what is sent to them. Those of deleted cases, which are about to end, are not seen. */
export interface Webhooks {
  /** The global ones (null), or those of one case; in no order. */
  list(caseId: string | null): Webhook[]
  /** Refuses with `not_found`. */
  get(id: string): Webhook
  status(id: string): ReceiverStatus
  summary(): WebhookSummary
  /** Sent are the events from now on. Refuses a target with `bad_request`; it is sent nothing to try it. */
  add(wanted: NewWebhook): Promise<Webhook>
  change(id: string, change: WebhookChange): Promise<Webhook>
  remove(id: string): Promise<void>
  /** The webhooks of a case that was deleted get what happened so far, and end. */
  endOfCase(caseId: string): Promise<void>
  /** Sends a ping whatever else there is to send, but behind those pings that were asked for before. */
  test(id: string): Promise<{ id: string; attempt: Attempt }>
  /** All that wait for a retry, the newest of the delivered and of the dead; newest first. */
  deliveries(id: string, query?: Partial<DeliveryQuery>): Promise<Delivery[]>
  countDeliveries(id: string, states: readonly DeliveryState[] | null): Promise<number>
  /** Refuses with `not_found`. */
  delivery(id: string, deliveryId: string): Promise<Delivery>
  /** Puts it into the queue again, due now. Refuses with `not_found`, or `wrong_state` while nothing is sent. */
  redeliver(id: string, deliveryId: string): Promise<Delivery>
}

export interface WebhooksDeps {
  database: Database
  eventLog: EventLog
  now(): string
  newId(): string
  log(line: string): void
  version: string
  /** For tests. */
  clock?: Clock | undefined
  random?: (() => number) | undefined
  sender?: Sender | undefined
}

/** Webhooks at work. */
export interface OpenWebhooks extends Webhooks {
  /** Begins to send; the port is that of this service, which is no target. */
  begin(port: number): void
  /** Resolves when nothing is under way; what waits for the common pace of retries may. For tests. */
  idle(): Promise<void>
  /** Ends the tests under way, which may take as long as a receiver likes: each is refused as `stopping`. */
  stopTests(): void
  /** What is under way may end for a moment; what does not is sent again at the next start. */
  close(): Promise<void>
}

const GRACE_MS = 2000
/** The disk may stay behind by so many events with what a receiver has passed that it did not want. */
const TIDY_EVENTS = 1000

const WHY_DISABLED: Record<Disabled['reason'], string> = {
  gone: 'its receiver answered 410 Gone',
  failing: 'for five days there was nothing but failures',
}

/** To be opened before the first event is appended, as that may trim the log. */
export function openWebhooks(deps: WebhooksDeps): OpenWebhooks {
  const { eventLog, now, newId, log, clock = systemClock } = deps
  const store = createWebhookStore(deps.database)
  const receivers = new Map<string, Receiver>()
  const limits = createRetryLimits(
    () => [...receivers.values()].map((each) => each.progress),
    clock,
  )
  const tests = createKeyedMutex()
  const stopping = new AbortController()
  let port: number | null = null
  let tidiedAt = eventLog.last
  let isClosed = false
  const ownPort = () => port
  const sender = deps.sender ?? createSender({ ownPort, version: deps.version })
  const registrations = createRegistrations({
    receivers,
    store,
    eventLog,
    open,
    keepLog,
    ownPort,
    newId,
    now,
    clock,
    log,
  })
  const { find, endIfDone } = registrations

  for (const record of store.all()) open(record)
  keepLog()
  const unsubscribe = eventLog.subscribe((event) => {
    for (const receiver of receivers.values()) receiver.wake(event)
    tidy(event.id)
  })

  function open(record: WebhookRecord): Receiver {
    const receiver = createReceiver(record, {
      store,
      eventLog,
      send,
      mayBegin: () => port !== null,
      limits,
      disable,
      onIdle(idle) {
        endIfDone(idle)
        tidy(idle.cursor)
      },
      clock,
      random: deps.random ?? Math.random,
      log,
    })
    receivers.set(record.webhook.id, receiver)
    return receiver
  }

  function send(webhook: Webhook, message: Message, signal: AbortSignal): Promise<Attempt> {
    const { id, type, envelope } = message
    const at = clock.now()
    const body = Buffer.from(envelope)
    const headers = signedHeaders({ id, type, body, secrets: secretsOf(webhook, at), at })
    return sender.send({ url: webhook.url, headers, body, signal })
  }

  /** The log keeps what receivers have still to get; one that the service disabled may stay so for ever. */
  function keepLog(): void {
    if (isClosed) return
    const waiting = [...receivers.values()].filter(({ webhook }) => webhook.disabled === null)
    const cursors = waiting.map(({ progress }) => progress.savedCursor)
    eventLog.keepFrom(cursors.length > 0 ? Math.min(...cursors) : null)
  }

  /** Saves the cursors now and then, so that the log can be trimmed. */
  function tidy(upTo: number): void {
    if (upTo - tidiedAt < TIDY_EVENTS) return
    tidiedAt = upTo
    for (const { progress } of receivers.values()) progress.save()
    store.flushed().then(keepLog, () => {}) // the database logs why
  }

  function disable(receiver: Receiver, reason: Disabled['reason']): void {
    const { id, case_id } = receiver.webhook
    const at = now()
    const disabled = { reason, at }
    receiver.webhook = { ...receiver.webhook, active: false, disabled, updated_at: at }
    receiver.progress.save()
    log(`webhook ${id} is disabled: ${WHY_DISABLED[reason]}`)
    const payload = { webhook_id: id, case_id, reason }
    const envelope = JSON.stringify({ event_type: 'webhook_disabled', timestamp: at, payload })
    if (!isClosed) eventLog.append([{ type: 'webhook_disabled', envelope }])
    keepLog()
  }

  async function test(id: string): Promise<{ id: string; attempt: Attempt }> {
    find(id)
    return tests.run(id, async () => {
      stopping.signal.throwIfAborted()
      const { webhook } = find(id)
      const payload = { webhook_id: id, case_id: webhook.case_id }
      const envelope = JSON.stringify({ event_type: 'ping', timestamp: now(), payload })
      const message = { id: `ping_${newId()}`, type: 'ping', envelope }
      return { id: message.id, attempt: await send(webhook, message, stopping.signal) }
    })
  }

  /** What can be read of its deliveries is as of now, as far as the disk takes it. */
  async function findSaved(id: string): Promise<Receiver> {
    const receiver = find(id)
    if (!receiver.progress.isSaved && !store.failure) {
      receiver.progress.save()
      await store.flushed().catch(() => {}) // the database logs why
    }
    return receiver
  }

  async function delivery(id: string, deliveryId: string): Promise<Delivery> {
    await findSaved(id)
    return store.delivery(id, deliveryId) ?? notKept(id, deliveryId)
  }

  async function redeliver(id: string, deliveryId: string): Promise<Delivery> {
    await delivery(id, deliveryId)
    const receiver = find(id)
    const { active, disabled } = receiver.webhook
    if (active) return (await receiver.redeliver(deliveryId)) ?? notKept(id, deliveryId)
    const state = disabled ? `was disabled (${WHY_DISABLED[disabled.reason]})` : 'is paused'
    const message = `Webhook ${id} ${state}, so nothing is sent to it. Resume it first: PATCH /webhooks/${id} with {"active": true}.`
    throw new AppError('wrong_state', message)
  }

  function summary(): WebhookSummary {
    const each = [...receivers.values()].filter(({ webhook }) => webhook.ends_after === null)
    const active = each.filter(({ webhook }) => webhook.active)
    const disabled = each.filter(({ webhook }) => webhook.disabled).length
    return {
      active: active.length,
      paused: each.length - active.length - disabled,
      disabled,
      failing: active.filter(({ failing }) => failing).length,
    }
  }

  async function idle(): Promise<void> {
    const receiversIdle = () => Promise.all([...receivers.values()].map((each) => each.idle()))
    await receiversIdle()
    await registrations.idle()
    await Promise.allSettled([store.flushed(), eventLog.flushed()])
    await receiversIdle() // of an event that one of them made
  }

  const stopTests = () => stopping.abort(stoppingError())

  return {
    list: (caseId) =>
      [...receivers.values()]
        .map(({ webhook }) => webhook)
        .filter(({ case_id, ends_after }) => case_id === caseId && ends_after === null),
    get: (id) => find(id).webhook,
    status(id) {
      const { progress, cursor, failing } = find(id)
      const { retrying } = progress
      const dead = store.count(id, ['dead'])
      return { retrying, dead, cursor, failing_since: failing?.since ?? null }
    },
    summary,
    add: registrations.add,
    change: registrations.change,
    remove: registrations.remove,
    endOfCase: registrations.endOfCase,
    test,
    async deliveries(id, { states = null, before = null, limit = null } = {}) {
      await findSaved(id)
      return store.deliveries(id, { states, before, limit })
    },
    async countDeliveries(id, states) {
      await findSaved(id)
      return store.count(id, states)
    },
    delivery,
    redeliver,
    begin(own) {
      port = own
      for (const receiver of [...receivers.values()]) {
        receiver.wake()
        endIfDone(receiver)
      }
    },
    idle,
    stopTests,
    async close() {
      isClosed = true
      unsubscribe()
      stopTests()
      const registered = registrations.close()
      await Promise.all([...receivers.values()].map((receiver) => receiver.close(GRACE_MS)))
      await registered
      await store.flushed().catch(() => {}) // the database logs why
      sender.close()
    },
  }
}

function notKept(id: string, deliveryId: string): never {
  const message = `Webhook ${id} has no delivery ${deliveryId.slice(0, 80)}, or has it no more. GET /webhooks/${id}/deliveries lists those that are kept.`
  throw new AppError('not_found', message)
}
