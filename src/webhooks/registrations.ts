/** Registers, changes and deletes webhooks. A change is stored before the request is answered. */

import { createKeyedMutex } from '../files/keyed-mutex.ts'
import { AppError, stoppingError } from '../model/app-error.ts'
import type { NotifyTarget } from '../model/settings.ts'
import { changedWebhook, type Webhook, type WebhookChange } from '../model/webhook.ts'
import type { Database } from '../state/database.ts'
import {
  addWebhook,
  queueEarlierEvents,
  removeWebhook,
  updateWebhook,
  type WebhookRow,
  type WebhookStore,
} from '../state/webhooks.ts'
import { newSecret } from './message.ts'
import { findWebhook } from './read-webhooks.ts'
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

interface RegistrationsDeps {
  receivers: Map<string, Receiver>
  database: Pick<Database, 'attempt' | 'write' | 'flushed'>
  store: WebhookStore
  /** Starts a receiver. */
  open(record: WebhookRow): Receiver
  ownPort(): number | null
  newId(): string
  now(): string
}

const MAX_WEBHOOKS = 500

function mustBeRegistered({ webhook: { notify, id } }: Receiver): void {
  if (notify === undefined) return
  const message = `Webhook ${id} is an entry of notify in casefile.md. Change it there.`
  throw new AppError('wrong_state', message)
}

/** If a change cannot be stored, it is rejected with the storage error and has no effect. */
export function createRegistrations(deps: RegistrationsDeps) {
  const { receivers, database, store, ownPort, now } = deps
  const turns = createKeyedMutex()
  let adding = 0
  let isClosed = false
  const find = (id: string) => findWebhook(receivers, id)

  function mustBeOpen(): void {
    if (isClosed) throw stoppingError()
  }

  function newWebhook(wanted: Pick<Webhook, 'case_id' | 'url' | 'events'> & Partial<Webhook>) {
    const at = now()
    const webhook: Webhook = {
      id: deps.newId(),
      secret: newSecret(),
      previous_secret: null,
      active: true,
      disabled: null,
      case_deleted: false,
      created_at: at,
      updated_at: at,
      ...wanted,
    }
    return webhook
  }

  async function add({ secret, active = true, ...wanted }: NewWebhook): Promise<Webhook> {
    if (receivers.size + adding >= MAX_WEBHOOKS) {
      const advice = 'Delete some that are no longer needed; GET /webhooks lists them.'
      throw new AppError('wrong_state', `There are ${MAX_WEBHOOKS} webhooks already. ${advice}`)
    }
    adding++
    try {
      await checkTarget(parseTarget(wanted.url), { ownPort: ownPort() })
      mustBeOpen()
      const webhook = newWebhook({ ...wanted, active, secret: secret ?? newSecret() })
      const record = { webhook, failing: null }
      await database.attempt((run) => addWebhook(run, record))
      deps.open(record)
      return webhook
    } finally {
      adding--
    }
  }

  /** For an entry of `notify` in casefile.md; it gets the events of the log after this id, too. */
  function addNotify({ kind, url }: NotifyTarget, after: number): void {
    const type = 'attention_needed'
    const webhook = newWebhook({ case_id: null, url, notify: kind, events: [type] })
    const record = { webhook, failing: null }
    const receiver = deps.open(record)
    database.write((run) => {
      addWebhook(run, record)
      queueEarlierEvents(run, webhook.id, after, type)
    }, receiver.wake)
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
      mustBeOpen()
      const { webhook: before, failing } = receiver
      const webhook = changedWebhook(before, wanted, now())
      receiver.webhook = webhook
      if (wanted.active && !before.active) {
        receiver.failing = null // failures before the pause no longer count
      }
      const record = { webhook, failing: receiver.failing }
      try {
        await database.attempt((run) => updateWebhook(run, record), true)
      } catch (error) {
        if (receiver.webhook === webhook) Object.assign(receiver, { webhook: before, failing })
        throw error
      }
      receiver.wake()
      return receiver.webhook
    })
  }

  function remove(id: string): Promise<void> {
    return turns.run(id, async () => {
      const receiver = find(id)
      mustBeRegistered(receiver)
      mustBeOpen()
      await database.attempt((run) => removeWebhook(run, id), true)
      void receiver.close(0)
      receivers.delete(id)
    })
  }

  function end(receiver: Receiver): void {
    const { id } = receiver.webhook
    receiver.webhook = { ...receiver.webhook, active: false }
    void receiver.close(0)
    database.write(
      (run) => removeWebhook(run, id),
      () => receivers.delete(id),
      true,
    )
  }

  async function endOfCase(caseId: string): Promise<void> {
    for (const receiver of receivers.values()) {
      const { webhook, failing } = receiver
      if (webhook.case_id !== caseId) continue
      receiver.webhook = { ...webhook, case_deleted: true }
      const record = { webhook: receiver.webhook, failing }
      database.write(
        (run) => updateWebhook(run, record),
        () => endIfDone(receiver),
      )
    }
    await database.flushed().catch(() => {}) // the case is already deleted, and the database logs the error
  }

  /** Removes a webhook of a deleted case once it has received all its events, or if it is paused. */
  function endIfDone(receiver: Receiver): void {
    const { webhook } = receiver
    if (!webhook.case_deleted) return
    if (webhook.active && store.count(webhook.id, ['queued', 'retrying']) > 0) return
    end(receiver)
  }

  return {
    add,
    addNotify,
    removeNotify,
    change,
    remove,
    endOfCase,
    endIfDone,
    /** Rejects all later changes. Resolves when none is running. */
    close(): Promise<void> {
      isClosed = true
      return turns.idle()
    },
    idle: turns.idle,
  }
}
