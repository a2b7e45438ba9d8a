import { createKeyedMutex } from '../files/keyed-mutex.ts'
import type { Attempt, Delivery, DeliveryState } from '../model/delivery.ts'
import { Refusal, stoppingRefusal } from '../model/refusal.ts'
import {
  changedWebhook,
  type Disabled,
  secretsOf,
  tidiedWebhook,
  type Webhook,
  type WebhookChange,
} from '../model/webhook.ts'
import type { Database } from '../state/database.ts'
import { createWebhookStore, type DeliveryQuery, type WebhookRecord } from '../state/webhooks.ts'
import type { EventLog } from '../workspace/log/event-log.ts'
import { type Message, newSecret, signedHeaders } from './message.ts'
import { type Clock, createReceiver, type Receiver } from './receiver.ts'
import { createRetryLimits } from './retry-limits.ts'
import { createSender, type Sender } from './sender.ts'
import { checkTarget, parseTarget } from './targets.ts'

export interface NewWebhook {
  case_id: string | null
  url: string
  events: readonly string[]
  /** Null: one is generated. */
  secret: string | null
  /** False for one that begins paused. */
  active?: boolean | undefined
}

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
const MAX_WEBHOOKS = 500
/** The disk may stay behind by so many events with what a receiver has passed that it did not want. */
const TIDY_EVENTS = 1000

const WHY_DISABLED: Record<Disabled['reason'], string> = {
  gone: 'its receiver answered 410 Gone',
  failing: 'for five days there was nothing but failures',
}

const systemClock: Clock = {
  now: Date.now,
  later(ms, call) {
    const timer = setTimeout(call, ms).unref()
    return () => clearTimeout(timer)
  },
}

/** To be opened before the first event is appended, as that may trim the log. */
export function openWebhooks(deps: WebhooksDeps): OpenWebhooks {
  const { eventLog, now, newId, log, clock = systemClock } = deps
  const store = createWebhookStore(deps.database)
  const all = new Map<string, Receiver>()
  const limits = createRetryLimits(() => all.values(), clock)
  /** Changes and tests, for each webhook one after the other. */
  const changes = createKeyedMutex()
  const tests = createKeyedMutex()
  const stopping = new AbortController()
  let port: number | null = null
  let adding = 0
  let isClosed = false
  const sender = deps.sender ?? createSender({ ownPort: () => port, version: deps.version })

  for (const record of store.all()) open(record)
  keepLog()
  let tidiedAt = eventLog.last
  const unsubscribe = eventLog.subscribe((event) => {
    for (const receiver of all.values()) receiver.wake(event)
    if (event.id - tidiedAt >= TIDY_EVENTS) tidy(event.id)
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
        if (idle.cursor - tidiedAt >= TIDY_EVENTS) tidy(idle.cursor)
      },
      clock,
      random: deps.random ?? Math.random,
      log,
    })
    all.set(record.webhook.id, receiver)
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
    const waiting = [...all.values()].filter(({ webhook }) => webhook.disabled === null)
    const cursors = waiting.map(({ savedCursor }) => savedCursor)
    eventLog.keepFrom(cursors.length > 0 ? Math.min(...cursors) : null)
  }

  function tidy(upTo: number): void {
    tidiedAt = upTo
    for (const receiver of all.values()) receiver.save()
    store.flushed().then(keepLog, () => {}) // the database logs why
  }

  function disable(receiver: Receiver, reason: Disabled['reason']): void {
    const { id, case_id } = receiver.webhook
    const at = now()
    const disabled = { reason, at }
    receiver.webhook = { ...receiver.webhook, active: false, disabled, updated_at: at }
    receiver.save()
    log(`webhook ${id} is disabled: ${WHY_DISABLED[reason]}`)
    const payload = { webhook_id: id, case_id, reason }
    const envelope = JSON.stringify({ event_type: 'webhook_disabled', timestamp: at, payload })
    if (!isClosed) eventLog.append({ events: [{ type: 'webhook_disabled', envelope }], marks: {} })
    keepLog()
  }

  function find(id: string): Receiver {
    const receiver = all.get(id)
    if (receiver && receiver.webhook.ends_after === null) return receiver
    const message = `There is no webhook ${id}. GET /webhooks lists those there are.`
    throw new Refusal('not_found', message)
  }

  function mustBeOpen(): void {
    if (isClosed) throw stoppingRefusal()
    if (store.failure) throw store.failure
  }

  async function add(wanted: NewWebhook): Promise<Webhook> {
    if (all.size + adding >= MAX_WEBHOOKS) {
      const advice = 'Delete some that are not needed any more; GET /webhooks lists them.'
      throw new Refusal('wrong_state', `There are ${MAX_WEBHOOKS} webhooks already. ${advice}`)
    }
    adding++
    try {
      await checkTarget(parseTarget(wanted.url), { ownPort: port })
      mustBeOpen()
      return await register(wanted)
    } finally {
      adding--
    }
  }

  async function register({ secret, active = true, ...wanted }: NewWebhook): Promise<Webhook> {
    const at = now()
    const cursor = eventLog.last
    const webhook: Webhook = {
      id: newId(),
      case_id: wanted.case_id,
      url: wanted.url,
      events: wanted.events,
      earlier_events: [],
      secret: secret ?? newSecret(),
      previous_secret: null,
      active,
      disabled: null,
      ends_after: null,
      created_at: at,
      updated_at: at,
    }
    const record = { webhook, cursor, failing: null }
    store.save(record, [])
    try {
      await store.flushed()
    } catch (error) {
      store.remove(webhook.id) // its owner knows of none
      throw error
    }
    const receiver = open(record)
    keepLog()
    receiver.wake()
    return webhook
  }

  async function change(id: string, wanted: WebhookChange): Promise<Webhook> {
    find(id)
    if (wanted.url !== undefined) await checkTarget(parseTarget(wanted.url), { ownPort: port })
    return changes.run(id, async () => {
      mustBeOpen()
      const receiver = find(id)
      const { webhook: before, failing } = receiver
      const changed = changedWebhook(before, wanted, { at: now(), upTo: eventLog.last })
      const webhook = tidiedWebhook(changed, clock.now(), receiver.cursor)
      receiver.webhook = webhook
      if (wanted.active && !before.active) {
        receiver.failing = null // a new start
        logMissed(receiver)
      }
      receiver.save()
      try {
        await store.flushed()
      } catch (error) {
        if (receiver.webhook === webhook) Object.assign(receiver, { webhook: before, failing })
        receiver.save()
        throw error
      }
      keepLog()
      receiver.wake()
      return receiver.webhook
    })
  }

  /** Which events a receiver that was left alone for long does not get any more. */
  function logMissed({ webhook: { id }, cursor }: Receiver): void {
    const { first } = eventLog
    if (first <= cursor + 1) return
    log(
      `webhook ${id} does not get the events ${cursor + 1} to ${first - 1}: the log holds them no more`,
    )
  }

  /** It goes once the disk has it; nothing is sent from now on. */
  function remove(receiver: Receiver): void {
    const { id } = receiver.webhook
    receiver.webhook = { ...receiver.webhook, active: false }
    receiver.discard()
    store.remove(id, () => {
      all.delete(id)
      keepLog()
    })
  }

  async function endOfCase(caseId: string): Promise<void> {
    const ends_after = eventLog.last
    for (const receiver of all.values()) {
      if (receiver.webhook.case_id !== caseId) continue
      receiver.webhook = { ...receiver.webhook, ends_after }
      receiver.save()
      receiver.wake()
      endIfDone(receiver)
    }
    await store.flushed().catch(() => {}) // the case is gone already, and the database logs why
  }

  /** Ends a webhook of a deleted case that has all of it, or is paused. */
  function endIfDone(receiver: Receiver): void {
    const { ends_after, active } = receiver.webhook
    if (ends_after === null) return
    if (!active || (receiver.savedCursor >= ends_after && receiver.retrying === 0)) remove(receiver)
  }

  function test(id: string): Promise<{ id: string; attempt: Attempt }> {
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

  const stopTests = () => stopping.abort(stoppingRefusal())

  /** What can be read of its deliveries is as of now, as far as the disk takes it. */
  async function findSaved(id: string): Promise<Receiver> {
    const receiver = find(id)
    if (!receiver.isSaved && !store.failure) {
      receiver.save()
      await store.flushed().catch(() => {}) // the database logs why
    }
    return receiver
  }

  function notKept(id: string, deliveryId: string): Refusal {
    const message = `Webhook ${id} has no delivery ${deliveryId.slice(0, 80)}, or has it no more. GET /webhooks/${id}/deliveries lists those that are kept.`
    return new Refusal('not_found', message)
  }

  async function redeliver(id: string, deliveryId: string): Promise<Delivery> {
    const receiver = find(id)
    const { active, disabled } = receiver.webhook
    if (!store.delivery(id, deliveryId)) await findSaved(id)
    if (!store.delivery(id, deliveryId)) throw notKept(id, deliveryId)
    if (!active) {
      const state = disabled ? `was disabled (${WHY_DISABLED[disabled.reason]})` : 'is paused'
      const message = `Webhook ${id} ${state}, so nothing is sent to it. Resume it first: PATCH /webhooks/${id} with {"active": true}.`
      throw new Refusal('wrong_state', message)
    }
    const delivery = await receiver.redeliver(deliveryId)
    if (!delivery) throw notKept(id, deliveryId)
    return delivery
  }

  return {
    list: (caseId) =>
      [...all.values()]
        .map(({ webhook }) => webhook)
        .filter(({ case_id, ends_after }) => case_id === caseId && ends_after === null),
    get: (id) => find(id).webhook,
    status(id) {
      const { retrying, cursor, failing } = find(id)
      const dead = store.count(id, ['dead'])
      return { retrying, dead, cursor, failing_since: failing?.since ?? null }
    },
    summary() {
      const each = [...all.values()].filter(({ webhook }) => webhook.ends_after === null)
      const active = each.filter(({ webhook }) => webhook.active)
      const disabled = each.filter(({ webhook }) => webhook.disabled).length
      return {
        active: active.length,
        paused: each.length - active.length - disabled,
        disabled,
        failing: active.filter(({ failing }) => failing).length,
      }
    },
    add,
    change,
    remove: (id) =>
      changes.run(id, async () => {
        const receiver = find(id)
        mustBeOpen()
        remove(receiver)
        await store.flushed()
      }),
    endOfCase,
    test,
    async deliveries(id, { states = null, before = null, limit = null } = {}) {
      await findSaved(id)
      return store.deliveries(id, { states, before, limit })
    },
    async countDeliveries(id, states) {
      await findSaved(id)
      return store.count(id, states)
    },
    async delivery(id, deliveryId) {
      await findSaved(id)
      const delivery = store.delivery(id, deliveryId)
      if (!delivery) throw notKept(id, deliveryId)
      return delivery
    },
    redeliver,
    begin(own) {
      port = own
      for (const receiver of [...all.values()]) {
        receiver.wake()
        endIfDone(receiver)
      }
    },
    async idle() {
      const receiversIdle = () => Promise.all([...all.values()].map((each) => each.idle()))
      await receiversIdle()
      await changes.idle()
      await Promise.allSettled([store.flushed(), eventLog.flushed()])
      await receiversIdle() // of an event that one of them made
    },
    stopTests,
    async close() {
      isClosed = true
      unsubscribe()
      stopTests()
      await Promise.all([...all.values()].map((receiver) => receiver.close(GRACE_MS)))
      await changes.idle()
      await store.flushed().catch(() => {}) // the database logs why
      sender.close()
    },
  }
}
