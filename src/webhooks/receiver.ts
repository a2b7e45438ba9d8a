/** Where webhooks are delivered and retried. */

import type { EventLog, LogEvent } from '../events/event-log.ts'
import {
  type Attempt,
  afterAttempt,
  type Delivery,
  isHopeless,
  isSuccess,
  onceMore,
} from '../model/delivery.ts'
import type { Disabled, Webhook } from '../model/webhook.ts'
import type { WebhookRecord, WebhookStore } from '../state/webhooks.ts'
import type { Clock } from './clock.ts'
import { matches, newDelivery } from './message.ts'
import { createProgress, type Progress } from './progress.ts'
import type { RetryLimits } from './retry-limits.ts'

/**
 * The delivery loop of one receiver: takes it through the event log from its cursor on, one event at
 * a time and in order, and beside that sends what failed again when it is due.
 */
export interface Receiver extends WebhookRecord {
  readonly progress: Progress
  /** There may be more to do: this event came, or the webhook was changed. */
  wake(event?: LogEvent): void
  /** Queues a delivery again, due now. Null when there is no such delivery. Rejects with the storage refusal. */
  redeliver(messageId: string): Promise<Delivery | null>
  /** Resolves when nothing is under way or unsaved. */
  idle(): Promise<void>
  /** Lets requests under way end for so long, then cuts them: the next start makes them again. */
  close(graceMs: number): Promise<void>
  /** The webhook is deleted: cuts its requests, and saves nothing more. */
  discard(): void
}

export interface ReceiverDeps {
  store: WebhookStore
  eventLog: Pick<EventLog, 'read'>
  send(webhook: Webhook, delivery: Delivery, signal: AbortSignal): Promise<Attempt>
  /** False before the service listens. */
  mayBegin(): boolean
  limits: RetryLimits
  disable(receiver: Receiver, reason: Disabled['reason']): void
  /** Called each time that nothing is left to do at the moment. */
  onIdle(receiver: Receiver): void
  clock: Clock
  random(): number
  log(line: string): void
}

/** Beside the main loop, which has one request. */
const MAX_RETRIES_AT_ONCE = 4
/** After the log could not be read, or there was no room for another failure. */
const AGAIN_MS = 1000
/** A clock that was set, or a machine that slept, is noticed after this. */
const LONGEST_SLEEP_MS = 60_000
/** No wait is longer (24 h and a fifth): a later time was written by a clock that ran ahead. */
const LONGEST_WAIT_MS = 29 * 60 * 60 * 1000
const LOG_FAILURE_MS = 60_000

export function createReceiver(record: WebhookRecord, deps: ReceiverDeps): Receiver {
  const { store, eventLog, clock, limits } = deps
  const { id } = record.webhook
  const waiters: (() => void)[] = []
  const cut = new AbortController()
  let isClosed = false
  const log = (line: string) => deps.log(`webhook ${id}: ${line}`)
  const isOn = () => !isClosed && deps.mayBegin() && receiver.webhook.active

  const receiver: Receiver = {
    ...record,
    get progress() {
      return progress
    },
    wake,
    redeliver,
    async idle() {
      if (isIdle()) return
      await new Promise<void>((resolve) => {
        waiters.push(resolve)
        settle()
      })
    },
    async close(graceMs) {
      isClosed = true
      cancelSleep()
      const timer = setTimeout(() => cut.abort(), graceMs)
      await Promise.all(underWay.values())
      clearTimeout(timer)
      cut.abort()
      progress.save()
    },
    discard() {
      isClosed = true
      cancelSleep()
      progress.discard()
      cut.abort()
    },
  }
  const progress = createProgress(receiver, {
    store,
    clock,
    onSaved() {
      sendDue()
      settle()
    },
  })

  // The main loop: events in order.

  let isMoving = false
  let hasNews = true
  /** Until it looks again. */
  let isPausing = false
  let hasLoggedRead = false

  function wake(event?: LogEvent): void {
    const isNext = event && !isMoving && receiver.cursor === event.id - 1
    if (isNext && isOn() && !matches(receiver.webhook, event)) {
      receiver.cursor = event.id
      settle()
      return
    }
    hasNews = true
    if (!event) sendDue()
    if (!isMoving && !isPausing && isOn()) void move()
  }

  async function move(): Promise<void> {
    isMoving = true
    try {
      while (hasNews && !isPausing && isOn()) {
        hasNews = false
        await follow()
      }
      hasLoggedRead = false
    } catch (error) {
      if (!hasLoggedRead) log(`the event log could not be read, and will be again: ${error}`)
      hasLoggedRead = true
      pause()
    }
    isMoving = false
    settle()
  }

  async function follow(): Promise<void> {
    for await (const event of eventLog.read(receiver.cursor)) {
      if (!isOn()) return
      if (!limits.hasRoom(progress)) return pause()
      if (!matches(receiver.webhook, event)) {
        receiver.cursor = event.id
        continue
      }
      await progress.hasRoom()
      if (isOn()) await attempt(newDelivery(event), true)
      if (receiver.cursor < event.id) return
    }
  }

  function pause(): void {
    isPausing = true
    hasNews = true
    clock.later(AGAIN_MS, () => {
      isPausing = false
      wake()
    })
  }

  // Retries, each when it is due.

  /** By event: retries, and at most one attempt of the main loop. */
  const underWay = new Map<number, Promise<void>>()
  /** Those that were asked for once more while an attempt is under way. */
  const askedFor = new Set<number>()
  let retriesUnderWay = 0
  let cancelSleep = () => {}
  let isWaitingForTurn = false

  function sendDue(hasTurn = false): void {
    cancelSleep()
    if (!isOn() || progress.retrying === 0) return
    const now = clock.now()
    if (!progress.isFull && retriesUnderWay < MAX_RETRIES_AT_ONCE) {
      const known = underWay.size + progress.unsaved.size
      const at = { now: iso(now), latest: iso(now + LONGEST_WAIT_MS) }
      for (const delivery of store.due(id, at, known + MAX_RETRIES_AT_ONCE)) {
        if (underWay.has(delivery.event) || progress.unsaved.has(delivery.event)) continue
        if (retriesUnderWay >= MAX_RETRIES_AT_ONCE || !(hasTurn || takeTurn())) break
        hasTurn = false
        void retry(delivery)
      }
    }
    const next = store.nextDue(id, iso(now))
    const ms = next === null ? LONGEST_SLEEP_MS : Date.parse(next) - now
    cancelSleep = clock.later(Math.min(ms, LONGEST_SLEEP_MS), () => sendDue())
  }

  /** While it fails, retries begin at a common pace. */
  function takeTurn(): boolean {
    if (receiver.failing === null) return true
    if (isWaitingForTurn) return false
    const ms = limits.reserveRetry()
    if (ms === 0) return true
    isWaitingForTurn = true
    clock.later(ms, () => {
      isWaitingForTurn = false
      sendDue(true)
    })
    return false
  }

  async function retry(delivery: Delivery): Promise<void> {
    retriesUnderWay++
    await attempt(delivery, false)
    retriesUnderWay--
    sendDue()
  }

  async function redeliver(messageId: string): Promise<Delivery | null> {
    if (store.failure) throw store.failure
    progress.save()
    await store.flushed()
    const found = store.delivery(id, messageId)
    if (!found) return null
    const present = progress.unsaved.get(found.event) ?? found
    const due = onceMore(present, iso(clock.now()))
    if (underWay.has(due.event)) askedFor.add(due.event)
    progress.add(due, present.state)
    progress.save()
    try {
      await store.flushed()
    } catch (error) {
      askedFor.delete(due.event)
      progress.add(present, 'retrying')
      throw error
    }
    sendDue()
    return due
  }

  // One attempt and what comes of it.

  function attempt(delivery: Delivery, isFirst: boolean): Promise<void> {
    const work = send(delivery)
      .then((came) => {
        if (came) take(delivery, came, isFirst)
      })
      .finally(() => {
        underWay.delete(delivery.event)
        settle()
      })
    underWay.set(delivery.event, work)
    return work
  }

  /** Null: it was cut by a stop. A mistake of ours is a failure too, so that it is tried again. */
  async function send(delivery: Delivery): Promise<Attempt | null> {
    const began = clock.now()
    try {
      return await deps.send(receiver.webhook, delivery, cut.signal)
    } catch (cause) {
      if (cut.signal.aborted) return null
      log(`${delivery.id} could not be sent: ${String(cause)}`)
      return {
        at: iso(began),
        ms: clock.now() - began,
        status: null,
        error: 'the service could not send it; its log says why',
        retry_after_ms: null,
      }
    }
  }

  function take(delivery: Delivery, came: Attempt, isFirst: boolean): void {
    const now = clock.now()
    const outcome = afterAttempt(delivery, came, { now, random: deps.random() })
    const isAskedFor = askedFor.delete(delivery.event) && outcome.state !== 'delivered'
    const after = isAskedFor ? onceMore(outcome, iso(now)) : outcome
    countFailure(came)
    if (isFirst) receiver.cursor = delivery.event
    progress.add(after, isFirst ? null : 'retrying')
    if (after.state === 'dead') log(`${delivery.id} is given up after ${after.tries} tries`)
    if (!receiver.webhook.active) return
    const { failing } = receiver
    if (came.status === 410) deps.disable(receiver, 'gone')
    else if (failing && isHopeless(failing, now)) deps.disable(receiver, 'failing')
  }

  let loggedAt = Number.NEGATIVE_INFINITY

  /** Not each failure is logged: one that fails now and then would fill the log. */
  function countFailure(came: Attempt): void {
    if (isSuccess(came)) {
      receiver.failing = null
      return
    }
    if (came.status !== 410 && clock.now() - loggedAt > LOG_FAILURE_MS) {
      log(`it fails, and is tried again: ${came.error}`)
      loggedAt = clock.now()
    }
    const { since, count } = receiver.failing ?? { since: came.at, count: 0 }
    receiver.failing = { since, count: count + 1 }
  }

  function isIdle(): boolean {
    return !isMoving && underWay.size === 0 && progress.isSaved
  }

  function settle(): void {
    const isWaitedFor = waiters.length > 0 && progress.unsaved.size > 0
    if (isWaitedFor && !isMoving && underWay.size === 0) progress.save()
    if (!isIdle()) return
    for (const waiter of waiters.splice(0)) waiter()
    if (!isClosed) deps.onIdle(receiver)
  }

  return receiver
}

function iso(time: number): string {
  return new Date(time).toISOString()
}
