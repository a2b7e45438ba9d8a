/** Manages all webhooks: one delivery loop (`receiver.ts`) per registration, fed by the event log. */

import type { EventLog } from '../events/event-log.ts'
import { createKeyedMutex } from '../files/keyed-mutex.ts'
import { AppError, stoppingError } from '../model/app-error.ts'
import type { Attempt, Delivery, DeliveryState } from '../model/delivery.ts'
import { type Disabled, secretsOf, type Webhook, type WebhookChange } from '../model/webhook.ts'
import type { Database } from '../state/database.ts'
import { createWebhookStore, type DeliveryQuery, type WebhookRecord } from '../state/webhooks.ts'
import { type Clock, systemClock } from './clock.ts'
import { type Message, signedHeaders } from './message.ts'
import { deliveryNotFound } from './not-found.ts'
import { createNotifyTargets, type NotifyDeps } from './notify-targets.ts'
import { createReceiver, type Receiver } from './receiver.ts'
import { createRegistrations, type NewWebhook } from './registrations.ts'
import { createRetryLimits } from './retry-limits.ts'
import { createSender, type Sender } from './sender.ts'

export interface ReceiverStatus {
  /** Failed deliveries that will be retried. */
  retrying: number
  /** Failed deliveries that were given up. */
  dead: number
  /** The id of the last event that the receiver is done with. */
  cursor: number
  /** Since when every attempt has failed (ISO 8601); null while the receiver answers. */
  failing_since: string | null
}

/** Counts of all webhooks, including those of cases. */
export interface WebhookSummary {
  active: number
  paused: number
  disabled: number
  /** Active webhooks whose latest attempts failed. */
  failing: number
}

/** The registered webhooks and their deliveries. Webhooks of deleted cases, which are about to end, are hidden. */
export interface Webhooks {
  /** Lists the global webhooks (null) or those of one case, in no particular order. */
  list(caseId: string | null): Webhook[]
  /** Throws `not_found`. */
  get(id: string): Webhook
  status(id: string): ReceiverStatus
  /** Makes `list` show what `notify` in casefile.md says now. */
  syncNotify(): Promise<void>
  summary(): WebhookSummary
  /**
   * Registers a webhook for events from now on. Throws `bad_request` for an invalid target; sends nothing to test it.
   */
  add(wanted: NewWebhook): Promise<Webhook>
  change(id: string, change: WebhookChange): Promise<Webhook>
  remove(id: string): Promise<void>
  /** Lets the webhooks of a deleted case receive their remaining events, then removes them. */
  endOfCase(caseId: string): Promise<void>
  /** Sends a ping at once, after pings that were requested earlier. */
  test(id: string): Promise<{ id: string; attempt: Attempt }>
  /** Lists all deliveries that wait for a retry and the newest delivered and dead ones; newest first. */
  deliveries(id: string, query?: Partial<DeliveryQuery>): Promise<Delivery[]>
  countDeliveries(id: string, states: readonly DeliveryState[] | null): Promise<number>
  /** Throws `not_found`. */
  delivery(id: string, deliveryId: string): Promise<Delivery>
  /** Queues a delivery again, due now. Throws `not_found`, or `wrong_state` while the webhook is paused or disabled. */
  redeliver(id: string, deliveryId: string): Promise<Delivery>
}

export interface WebhooksDeps {
  database: Database
  eventLog: EventLog
  now(): string
  newId(): string
  log(line: string): void
  version: string
  /** Without it, `notify` in casefile.md has no effect. */
  notify?: NotifyDeps
  /** For tests. */
  clock?: Clock | undefined
  random?: (() => number) | undefined
  sender?: Sender | undefined
  /** How long running requests may take once the service stops. */
  graceMs?: number
}

/** The webhooks while the service runs. */
export interface OpenWebhooks extends Webhooks {
  /** Starts sending. `port` is the service's own, which is not an allowed target. */
  begin(port: number): void
  /** For tests: resolves when no request is running. Retries that wait for the shared rate limit may remain. */
  idle(): Promise<void>
  /** Aborts running pings, which may take long. Each fails with `stopping`. */
  stopTests(): void
  /** Gives running requests a moment to end. Others are sent again at the next start. */
  close(): Promise<void>
}

const GRACE_MS = 2000
/** Cursors are saved at least once in so many events, also if a receiver skips them all. */
const TIDY_EVENTS = 1000

const WHY_DISABLED: Record<Disabled['reason'], string> = {
  gone: 'its receiver answered 410 Gone',
  failing: 'all deliveries failed for five days',
}

const isNotify = ({ notify }: Webhook) => notify !== undefined

/** Must be opened before the first event is appended, as that may trim the log. */
export function openWebhooks(deps: WebhooksDeps): OpenWebhooks {
  const { eventLog, now, newId, log, clock = systemClock, graceMs = GRACE_MS } = deps
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
  const notifying =
    deps.notify &&
    createNotifyTargets(
      deps.notify,
      {
        list: () => [...receivers.values()].map(({ webhook }) => webhook).filter(isNotify),
        add: registrations.addNotify,
        remove: registrations.removeNotify,
      },
      sender,
      () => `http://127.0.0.1:${port}`,
    )

  /** What casefile.md says now: read before each notification, and when somebody looks at the list. */
  async function syncNotify(cursor = eventLog.last): Promise<void> {
    if (isClosed || port === null) return
    try {
      await notifying?.sync(cursor)
    } catch (error) {
      log(`notify in casefile.md could not be read: ${String(error)}`)
    }
  }

  for (const record of store.all()) open(record)
  keepLog()
  const unsubscribe = eventLog.subscribe((event) => {
    if (event.type === 'attention_needed') void syncNotify(event.id - 1)
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
    if (webhook.notify && notifying) return notifying.send(webhook, message, signal)
    const { id, type, envelope } = message
    const at = clock.now()
    const body = Buffer.from(envelope)
    const headers = signedHeaders({ id, type, body, secrets: secretsOf(webhook, at), at })
    return sender.send({ url: webhook.url, headers, body, signal })
  }

  /**
   * Makes the event log keep the events that receivers still need. Webhooks that the service disabled don't count, as
   * they may stay disabled forever.
   */
  function keepLog(): void {
    if (isClosed) return
    const waiting = [...receivers.values()].filter(({ webhook }) => webhook.disabled === null)
    const cursors = waiting.map(({ progress }) => progress.savedCursor)
    eventLog.keepFrom(cursors.length > 0 ? Math.min(...cursors) : null)
  }

  /** Saves all cursors once in a while, so that the log can be trimmed. */
  function tidy(upTo: number): void {
    if (upTo - tidiedAt < TIDY_EVENTS) return
    tidiedAt = upTo
    for (const { progress } of receivers.values()) progress.save()
    store.flushed().then(keepLog, () => {}) // the database logs the error
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

  /** Finds a receiver and saves its outcomes, so that queries see its current deliveries. */
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
    const found = store.delivery(id, deliveryId)
    if (!found) throw deliveryNotFound(id, deliveryId)
    return found
  }

  async function redeliver(id: string, deliveryId: string): Promise<Delivery> {
    await delivery(id, deliveryId)
    const receiver = find(id)
    const { active, disabled } = receiver.webhook
    if (active) {
      const queued = await receiver.redeliver(deliveryId)
      if (!queued) throw deliveryNotFound(id, deliveryId)
      return queued
    }
    const state = disabled ? `was disabled (${WHY_DISABLED[disabled.reason]})` : 'is paused'
    const message = `Webhook ${id} ${state}, so nothing is sent to it. Resume it first with PATCH /webhooks/${id} and {"active": true}.`
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
    await receiversIdle() // again, for an event that a receiver may have appended
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
    syncNotify: () => syncNotify(),
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
      void syncNotify()
    },
    idle,
    stopTests,
    async close() {
      isClosed = true
      unsubscribe()
      stopTests()
      const registered = registrations.close()
      await Promise.all([...receivers.values()].map((receiver) => receiver.close(graceMs)))
      await registered
      await store.flushed().catch(() => {}) // the database logs why
      sender.close()
    },
  }
}
