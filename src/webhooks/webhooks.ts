/** Manages all webhooks: one delivery loop (`receiver.ts`) per registration, fed by its queue in the database. */

import type { EventLog } from '../events/event-log.ts'
import { createKeyedMutex } from '../files/keyed-mutex.ts'
import { AppError, stoppingError } from '../model/app-error.ts'
import type { ConsoleAddress } from '../model/console-address.ts'
import { type Attempt, type Delivery, requeue } from '../model/delivery.ts'
import { type Disabled, secretsOf, type Webhook, type WebhookChange } from '../model/webhook.ts'
import type { Database } from '../state/database.ts'
import {
  createWebhookStore,
  requeueDelivery,
  updateWebhook,
  type WebhookRow,
} from '../state/webhooks.ts'
import { type Clock, systemClock } from './clock.ts'
import { type Message, signedHeaders } from './message.ts'
import { createNotifyTargets, type NotifyDeps } from './notify-targets.ts'
import { queueEvents } from './queue.ts'
import { findWebhook, type ReadWebhooks, readWebhooks } from './read-webhooks.ts'
import { createReceiver, type Receiver } from './receiver.ts'
import { createRegistrations, type NewWebhook } from './registrations.ts'
import { createRetryPace } from './retry-pace.ts'
import { createSender, type Sender } from './sender.ts'

/** Counts of all webhooks, including those of cases. */
export interface WebhookSummary {
  active: number
  paused: number
  disabled: number
  /** Active webhooks whose latest attempts failed. */
  failing: number
}

/** The registered webhooks and their deliveries. Webhooks of deleted cases, which are about to end, are hidden. */
export interface Webhooks extends ReadWebhooks {
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
  consoleAddress?: ConsoleAddress
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

const WHY_DISABLED: Record<Disabled['reason'], string> = {
  gone: 'its receiver answered 410 Gone',
  failing: 'all deliveries failed for five days',
}

const isNotify = ({ notify }: Webhook) => notify !== undefined

/** Must be opened before the first event is appended, which webhooks may get. */
export function openWebhooks(deps: WebhooksDeps): OpenWebhooks {
  const { database, eventLog, now, newId, log, clock = systemClock, graceMs = GRACE_MS } = deps
  const store = createWebhookStore(database)
  const receivers = new Map<string, Receiver>()
  const reserveRetry = createRetryPace(clock)
  const tests = createKeyedMutex()
  const stopping = new AbortController()
  let port: number | null = null
  let isClosed = false
  const ownPort = () => port
  const sender = deps.sender ?? createSender({ ownPort, version: deps.version })
  const parts = { receivers, database, store, open, ownPort, newId, now }
  const registrations = createRegistrations(parts)
  const { add, change, remove, endOfCase } = registrations
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
      (kind) => (kind !== 'desktop' && deps.consoleAddress?.url) || `http://127.0.0.1:${port}`,
    )
  const reading = readWebhooks(store, receivers)

  /** What casefile.md says now: read before each notification, and when somebody looks at the list. */
  async function syncNotify(after = eventLog.last): Promise<void> {
    if (isClosed || port === null) return
    try {
      await notifying?.sync(after)
    } catch (error) {
      log(`notify in casefile.md could not be read: ${String(error)}`)
    }
  }

  for (const record of store.all()) open(record)
  queueEvents({ eventLog, receivers, store, database, log })
  const unsubscribe = eventLog.subscribe(({ id, type }) => {
    if (type === 'attention_needed') void syncNotify(id - 1)
  })

  function open(record: WebhookRow): Receiver {
    const receiver = createReceiver(record, {
      store,
      database,
      send,
      mayBegin: () => port !== null,
      reserveRetry,
      disable,
      onIdle: registrations.endIfDone,
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

  function disable(receiver: Receiver, reason: Disabled['reason']): void {
    const { id, case_id } = receiver.webhook
    const at = now()
    const disabled = { reason, at }
    const webhook = { ...receiver.webhook, active: false, disabled, updated_at: at }
    receiver.webhook = webhook
    log(`webhook ${id} is disabled: ${WHY_DISABLED[reason]}`)
    const payload = { webhook_id: id, case_id, reason }
    const envelope = JSON.stringify({ event_type: 'webhook_disabled', timestamp: at, payload })
    const record = { webhook, failing: receiver.failing }
    eventLog.append([{ type: 'webhook_disabled', envelope }], (run) => updateWebhook(run, record))
  }

  async function test(id: string): Promise<{ id: string; attempt: Attempt }> {
    reading.get(id)
    return tests.run(id, async () => {
      stopping.signal.throwIfAborted()
      const webhook = reading.get(id)
      const payload = { webhook_id: id, case_id: webhook.case_id }
      const envelope = JSON.stringify({ event_type: 'ping', timestamp: now(), payload })
      const message = { id: `ping_${newId()}`, type: 'ping', envelope }
      return { id: message.id, attempt: await send(webhook, message, stopping.signal) }
    })
  }

  async function redeliver(id: string, deliveryId: string): Promise<Delivery> {
    const found = await reading.delivery(id, deliveryId)
    const receiver = findWebhook(receivers, id)
    const { active, disabled } = receiver.webhook
    if (!active) {
      const state = disabled ? `was disabled (${WHY_DISABLED[disabled.reason]})` : 'is paused'
      const message = `Webhook ${id} ${state}, so nothing is sent to it. Resume it first with PATCH /webhooks/${id} and {"active": true}.`
      throw new AppError('wrong_state', message)
    }
    const due = requeue(found, new Date(clock.now()).toISOString())
    await database.attempt((run) => requeueDelivery(run, id, due))
    receiver.wake()
    return due
  }

  function summary(): WebhookSummary {
    const each = [...receivers.values()].filter(({ webhook }) => !webhook.case_deleted)
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
    await Promise.allSettled([database.flushed(), eventLog.flushed()])
    await receiversIdle() // again, for an event that a receiver may have appended
  }

  const stopTests = () => stopping.abort(stoppingError())

  return {
    ...reading,
    syncNotify: () => syncNotify(),
    summary,
    add,
    change,
    remove,
    endOfCase,
    test,
    redeliver,
    begin(own) {
      port = own
      for (const receiver of [...receivers.values()]) receiver.wake()
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
      await database.flushed().catch(() => {}) // the database logs why
      sender.close()
    },
  }
}
