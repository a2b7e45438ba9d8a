import type { EventLog } from '../events/event-log.ts'
import { createKeyedMutex } from '../files/keyed-mutex.ts'
import type { Attempt, Delivery } from '../model/delivery.ts'
import { stoppingRefusal } from '../model/refusal.ts'
import {
  changedWebhook,
  type Disabled,
  secretsOf,
  tidiedWebhook,
  type Webhook,
  type WebhookChange,
} from '../model/webhook.ts'
import { createWebhookFiles } from '../workspace/webhooks/webhook-files.ts'
import { createEndings } from './endings.ts'
import { createLogKeeping } from './log-keeping.ts'
import type { Message } from './message.ts'
import type { Clock, Sender } from './needs.ts'
import { createPace } from './pace.ts'
import { createPings } from './pings.ts'
import { lostJournal, notActive, tooMany, WHY_DISABLED } from './refusals.ts'
import { openRegistered, type Registered, warnOfMissed } from './registered.ts'
import { createRoom } from './room.ts'
import { createSender } from './sender.ts'
import { newSecret, signedHeaders } from './signature.ts'
import { checkTarget, parseTarget } from './targets.ts'
import { viewOf } from './view.ts'
import type { NewWebhook, Webhooks } from './webhooks.ts'

export interface WebhooksNeeds {
  /** In the state folder. */
  folder: string
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
  /** Resolves when nothing is under way or waits for its turn; what keeps the pace of retries may. For tests. */
  idle(): Promise<void>
  /** Ends the tests under way, which may take as long as a receiver likes: each is refused as `stopping`. */
  stopTests(): void
  /** What is under way may end for a moment; what does not is sent again at the next start. */
  close(): Promise<void>
}

const GRACE_MS = 2000
const MAX_WEBHOOKS = 500

const systemClock: Clock = {
  now: Date.now,
  later(ms, call) {
    const timer = setTimeout(call, ms).unref()
    return () => clearTimeout(timer)
  },
}

/** To be opened before the first event is appended, as that may trim the log. */
export async function openWebhooks(needs: WebhooksNeeds): Promise<OpenWebhooks> {
  const { eventLog, now, log, clock = systemClock, random = Math.random } = needs
  const files = createWebhookFiles(needs.folder, { log, now })
  const mutex = createKeyedMutex()
  const all = new Map<string, Registered>()
  const keeping = createLogKeeping(() => all.values(), eventLog, log)
  let port: number | null = null
  const room = createRoom(
    () => [...all.values()].map(({ book }) => book),
    () => {
      for (const { receiver } of all.values()) receiver.wake()
    },
  )
  const endings = createEndings({ all, files, mutex, keeping, room, eventLog, log })
  let adding = 0
  let isClosed = false
  const sender = needs.sender ?? createSender({ ownPort: () => port, version: needs.version })

  const { find, ...view } = viewOf(all)
  const pings = createPings({ ...needs, find, send })
  const pace = createPace(clock)

  for (const webhook of await files.all()) await admit(webhook)
  keeping.keep()
  const unsubscribe = eventLog.subscribe((event) => {
    for (const { receiver } of all.values()) receiver.wake(event)
    keeping.passed(event.id)
  })

  async function admit(webhook: Webhook, isNew = false): Promise<void> {
    const each = await openRegistered(webhook, {
      ...{ journalPath: files.journalPath, eventLog, send, clock, random, now, log },
      write: (changed) =>
        files.write(changed).catch((error: unknown) => log(`webhook ${webhook.id}: ${error}`)),
      ...{ mayBegin: () => port !== null, pace, room, onDisabled, onIdle },
    })
    // so that one that is missing is a lost one
    if (isNew) await each.receiver.forgive()
    else if (each.journal.isNew) log(lostJournal(webhook))
    all.set(webhook.id, each)
  }

  function send(webhook: Webhook, message: Message, signal: AbortSignal): Promise<Attempt> {
    const { id, type, envelope } = message
    const at = clock.now()
    const body = Buffer.from(envelope)
    const headers = signedHeaders({ id, type, body, secrets: secretsOf(webhook, at), at })
    return sender.send({ url: webhook.url, headers, body, signal })
  }

  function onDisabled(each: Registered, reason: Disabled['reason']): void {
    const { id, case_id } = each.webhook
    const at = now()
    each.webhook = { ...each.webhook, active: false, disabled: { reason, at }, updated_at: at }
    log(`webhook ${id} is disabled: ${WHY_DISABLED[reason]}`)
    const payload = { webhook_id: id, case_id, reason }
    const envelope = JSON.stringify({ event_type: 'webhook_disabled', timestamp: at, payload })
    if (!isClosed) eventLog.append([{ type: 'webhook_disabled', envelope }])
    mutex
      .run(id, () => {
        const isStill = all.get(id) === each && each.webhook.disabled
        return isStill ? files.write(each.webhook) : undefined
      })
      .catch((error: unknown) => log(`webhook ${id}: that it is disabled is not kept: ${error}`))
    keeping.keep()
  }

  function onIdle(each: Registered): void {
    keeping.passed(each.receiver.progress().cursor)
    room.freed()
    endings.endIfDone(each)
  }

  async function add(wanted: NewWebhook): Promise<Webhook> {
    if (all.size + adding >= MAX_WEBHOOKS) throw tooMany(MAX_WEBHOOKS)
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
    const webhook: Webhook = {
      ...{ id: needs.newId(), ...wanted, secret: secret ?? newSecret() },
      ...{ previous_secret: null, earlier_events: [], active, disabled: null },
      ...{ starts_after: eventLog.last, ends_after: null, created_at: at, updated_at: at },
    }
    await files.write(webhook)
    try {
      await admit(webhook, true)
    } catch (error) {
      await files.remove(webhook.id) // its owner knows of none
      throw error
    }
    keeping.keep()
    all.get(webhook.id)?.receiver.wake()
    return webhook
  }

  async function change(id: string, wanted: WebhookChange): Promise<Webhook> {
    find(id)
    if (wanted.url !== undefined) await checkTarget(parseTarget(wanted.url), { ownPort: port })
    return mutex.run(id, async () => {
      mustBeOpen()
      const each = find(id)
      const at = now()
      if (wanted.events) await each.receiver.sync() // what is behind it needs no earlier events
      const upTo = eventLog.last
      const next = () => {
        const webhook = changedWebhook(each.webhook, wanted, { at, upTo })
        return tidiedWebhook(webhook, clock.now(), each.journal.syncedCursor)
      }
      if (wanted.active && !each.webhook.active) {
        await each.receiver.forgive()
        warnOfMissed(each, eventLog, log)
      }
      await files.write(next())
      each.webhook = next() // it may be disabled meanwhile
      keeping.keep()
      each.receiver.wake()
      return each.webhook
    })
  }

  function mustBeOpen(): void {
    if (isClosed) throw stoppingRefusal()
  }

  async function redeliver(id: string, deliveryId: string): Promise<Delivery> {
    const { webhook, receiver } = find(id)
    const delivery = view.delivery(id, deliveryId)
    if (!webhook.active) throw notActive(webhook)
    return receiver.again(delivery)
  }

  async function close(): Promise<void> {
    isClosed = true
    unsubscribe()
    pings.stop()
    await Promise.all([...all.values()].map(({ receiver }) => receiver.close(GRACE_MS)))
    await mutex.idle()
    await keeping.idle()
    sender.close()
  }

  return {
    ...view,
    async remove(id) {
      find(id)
      await endings.remove(id)
    },
    endOfCase: endings.endOfCase,
    async idle() {
      for (const { receiver } of [...all.values()]) await receiver.idle()
      await mutex.idle()
    },
    begin(own) {
      port = own
      for (const each of [...all.values()]) {
        each.receiver.wake()
        endings.endIfDone(each)
      }
    },
    ...{ add, change, redeliver, close },
    test: pings.send,
    stopTests: pings.stop,
  }
}
