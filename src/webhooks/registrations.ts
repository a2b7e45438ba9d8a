/** Registers, changes and deletes webhooks. A change is saved before the request is answered. */

import type { EventLog } from '../events/event-log.ts'
import { createKeyedMutex } from '../files/keyed-mutex.ts'
import { AppError, stoppingError } from '../model/app-error.ts'
import type { NotifyTarget } from '../model/settings.ts'
import {
  changedWebhook,
  tidiedWebhook,
  type Webhook,
  type WebhookChange,
} from '../model/webhook.ts'
import type { WebhookRecord, WebhookStore } from '../state/webhooks.ts'
import type { Clock } from './clock.ts'
import { newSecret } from './message.ts'
import { webhookNotFound } from './not-found.ts'
import type { Receiver } from './receiver.ts'
import { checkTarget, parseTarget } from './targets.ts'

export interface NewWebhook {
  case_id: string | null
  url: string
  events: readonly string[]
  /** Null generates one. */
  secret: string | null
  /** False registers it paused. */
  active?: boolean | undefined
}

/** If a change cannot be saved, it is rejected with the storage error and has no effect. */
export interface Registrations {
  /** Throws `not_found` if there is none, also for webhooks of deleted cases, which are about to end. */
  find(id: string): Receiver
  add(wanted: NewWebhook): Promise<Webhook>
  /** For an entry of `notify` in casefile.md. */
  addNotify(target: NotifyTarget, cursor: number): void
  removeNotify(id: string): void
  change(id: string, wanted: WebhookChange): Promise<Webhook>
  remove(id: string): Promise<void>
  endOfCase(caseId: string): Promise<void>
  /** Removes a webhook of a deleted case once it has received all its events, or if it is paused. */
  endIfDone(receiver: Receiver): void
  /** Rejects all later changes. Resolves when none is running. */
  close(): Promise<void>
  idle(): Promise<void>
}

interface RegistrationsDeps {
  receivers: Map<string, Receiver>
  store: WebhookStore
  eventLog: Pick<EventLog, 'first' | 'last'>
  /** Starts a receiver. */
  open(record: WebhookRecord): Receiver
  /** Called when the events that receivers still need from the log have changed. */
  keepLog(): void
  ownPort(): number | null
  newId(): string
  now(): string
  clock: Clock
  log(line: string): void
}

const MAX_WEBHOOKS = 500

function mustBeRegistered({ webhook: { notify, id } }: Receiver): void {
  if (notify === undefined) return
  const message = `Webhook ${id} is an entry of notify in casefile.md. Change it there.`
  throw new AppError('wrong_state', message)
}

export function createRegistrations(deps: RegistrationsDeps): Registrations {
  const { receivers, store, eventLog, keepLog, ownPort, now } = deps
  const turns = createKeyedMutex()
  let adding = 0
  let isClosed = false

  function find(id: string): Receiver {
    const receiver = receivers.get(id)
    if (receiver && receiver.webhook.ends_after === null) return receiver
    throw webhookNotFound(id)
  }

  function mustBeWritable(): void {
    if (isClosed) throw stoppingError()
    if (store.failure) throw store.failure
  }

  async function add(wanted: NewWebhook): Promise<Webhook> {
    if (receivers.size + adding >= MAX_WEBHOOKS) {
      const advice = 'Delete some that are no longer needed; GET /webhooks lists them.'
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
    await store.add(record)
    const receiver = deps.open(record)
    keepLog()
    receiver.wake()
    return webhook
  }

  function addNotify({ kind, url }: NotifyTarget, cursor: number): void {
    const at = now()
    const webhook: Webhook = {
      id: deps.newId(),
      case_id: null,
      url,
      notify: kind,
      events: ['attention_needed'],
      earlier_events: [],
      secret: newSecret(),
      previous_secret: null,
      active: true,
      disabled: null,
      ends_after: null,
      created_at: at,
      updated_at: at,
    }
    const record = { webhook, cursor, failing: null }
    store.addLater(record)
    const receiver = deps.open(record)
    keepLog()
    receiver.wake()
  }

  function removeNotify(id: string): void {
    const receiver = receivers.get(id)
    if (receiver) end(receiver)
  }

  async function change(id: string, wanted: WebhookChange): Promise<Webhook> {
    mustBeRegistered(find(id))
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
        receiver.failing = null // failures before the pause no longer count
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

  /** Logs the events that a webhook missed because it was paused for too long. */
  function logMissed({ webhook, cursor }: Receiver): void {
    const { first } = eventLog
    if (first <= cursor + 1) return
    const missed = `the events ${cursor + 1} to ${first - 1}`
    deps.log(`webhook ${webhook.id} will not get ${missed}: they are no longer in the event log`)
  }

  function remove(id: string): Promise<void> {
    return turns.run(id, async () => {
      const receiver = find(id)
      mustBeRegistered(receiver)
      mustBeWritable()
      await store.remove(id)
      receiver.discard()
      receivers.delete(id)
      keepLog()
    })
  }

  function end(receiver: Receiver): void {
    const { id } = receiver.webhook
    receiver.webhook = { ...receiver.webhook, active: false }
    receiver.discard()
    store.removeLater(id, () => {
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
    await store.flushed().catch(() => {}) // the case is already deleted, and the database logs the error
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
    addNotify,
    removeNotify,
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
