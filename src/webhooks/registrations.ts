/** Registers, changes and removes webhooks. A change is on the disk before it is answered. */

import type { EventLog } from '../events/event-log.ts'
import { createKeyedMutex } from '../files/keyed-mutex.ts'
import { AppError, stoppingError } from '../model/app-error.ts'
import {
  changedWebhook,
  tidiedWebhook,
  type Webhook,
  type WebhookChange,
} from '../model/webhook.ts'
import type { WebhookRecord, WebhookStore } from '../state/webhooks.ts'
import type { Clock } from './clock.ts'
import { newSecret } from './message.ts'
import type { Receiver } from './receiver.ts'
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

/** How webhooks come, change and go. What the disk refuses is refused, and changes nothing. */
export interface Registrations {
  /** Refuses with `not_found`; also those of deleted cases, which are about to end. */
  find(id: string): Receiver
  add(wanted: NewWebhook): Promise<Webhook>
  change(id: string, wanted: WebhookChange): Promise<Webhook>
  /** Nothing is sent from now on. Where the disk fails just then, the webhook goes once it does not. */
  remove(id: string): Promise<void>
  endOfCase(caseId: string): Promise<void>
  /** Ends a webhook of a deleted case that has all of it, or is paused. */
  endIfDone(receiver: Receiver): void
  /** Refuses what comes from now on. Resolves when nothing is under way. */
  close(): Promise<void>
  idle(): Promise<void>
}

interface RegistrationsDeps {
  receivers: Map<string, Receiver>
  store: WebhookStore
  eventLog: Pick<EventLog, 'first' | 'last'>
  /** Puts a receiver to work. */
  open(record: WebhookRecord): Receiver
  /** Called when what the receivers still need of the log has changed. */
  keepLog(): void
  ownPort(): number | null
  newId(): string
  now(): string
  clock: Clock
  log(line: string): void
}

const MAX_WEBHOOKS = 500

export function createRegistrations(deps: RegistrationsDeps): Registrations {
  const { receivers, store, eventLog, keepLog, ownPort, now } = deps
  const turns = createKeyedMutex()
  let adding = 0
  let isClosed = false

  function find(id: string): Receiver {
    const receiver = receivers.get(id)
    if (receiver && receiver.webhook.ends_after === null) return receiver
    const message = `There is no webhook ${id}. GET /webhooks lists those there are.`
    throw new AppError('not_found', message)
  }

  function mustBeWritable(): void {
    if (isClosed) throw stoppingError()
    if (store.failure) throw store.failure
  }

  async function add(wanted: NewWebhook): Promise<Webhook> {
    if (receivers.size + adding >= MAX_WEBHOOKS) {
      const advice = 'Delete some that are not needed any more; GET /webhooks lists them.'
      throw new AppError('wrong_state', `There are ${MAX_WEBHOOKS} webhooks already. ${advice}`)
    }
    adding++
    try {
      await checkTarget(parseTarget(wanted.url), { ownPort: ownPort() })
      mustBeWritable()
      return await register(wanted)
    } finally {
      adding--
    }
  }

  async function register({ secret, active = true, ...wanted }: NewWebhook): Promise<Webhook> {
    const at = now()
    const webhook: Webhook = {
      id: deps.newId(),
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
    const record = { webhook, cursor: eventLog.last, failing: null }
    store.save(record, [])
    try {
      await store.flushed()
    } catch (error) {
      store.remove(webhook.id) // its owner knows of none
      throw error
    }
    const receiver = deps.open(record)
    keepLog()
    receiver.wake()
    return webhook
  }

  async function change(id: string, wanted: WebhookChange): Promise<Webhook> {
    find(id)
    if (wanted.url !== undefined) {
      await checkTarget(parseTarget(wanted.url), { ownPort: ownPort() })
    }
    return turns.run(id, async () => {
      const receiver = find(id)
      mustBeWritable()
      const { webhook: before, failing } = receiver
      const changed = changedWebhook(before, wanted, { at: now(), upTo: eventLog.last })
      const webhook = tidiedWebhook(changed, deps.clock.now(), receiver.cursor)
      receiver.webhook = webhook
      if (wanted.active && !before.active) {
        receiver.failing = null // a new start
        logMissed(receiver)
      }
      receiver.progress.save()
      try {
        await store.flushed()
      } catch (error) {
        if (receiver.webhook === webhook) Object.assign(receiver, { webhook: before, failing })
        receiver.progress.save()
        throw error
      }
      keepLog()
      receiver.wake()
      return receiver.webhook
    })
  }

  /** Which events a receiver that was left alone for long does not get any more. */
  function logMissed({ webhook, cursor }: Receiver): void {
    const { first } = eventLog
    if (first <= cursor + 1) return
    const missed = `the events ${cursor + 1} to ${first - 1}`
    deps.log(`webhook ${webhook.id} does not get ${missed}: the log holds them no more`)
  }

  function remove(id: string): Promise<void> {
    return turns.run(id, async () => {
      const receiver = find(id)
      mustBeWritable()
      end(receiver)
      await store.flushed()
    })
  }

  function end(receiver: Receiver): void {
    const { id } = receiver.webhook
    receiver.webhook = { ...receiver.webhook, active: false }
    receiver.discard()
    store.remove(id, () => {
      receivers.delete(id)
      keepLog()
    })
  }

  async function endOfCase(caseId: string): Promise<void> {
    const ends_after = eventLog.last
    for (const receiver of receivers.values()) {
      if (receiver.webhook.case_id !== caseId) continue
      receiver.webhook = { ...receiver.webhook, ends_after }
      receiver.progress.save()
      receiver.wake()
      endIfDone(receiver)
    }
    await store.flushed().catch(() => {}) // the case is gone already, and the database logs why
  }

  function endIfDone(receiver: Receiver): void {
    const { webhook, progress } = receiver
    if (webhook.ends_after === null) return
    const isDone = progress.savedCursor >= webhook.ends_after && progress.retrying === 0
    if (isDone || !webhook.active) end(receiver)
  }

  return {
    find,
    add,
    change,
    remove,
    endOfCase,
    endIfDone,
    close() {
      isClosed = true
      return turns.idle()
    },
    idle: turns.idle,
  }
}
