/** Delivers events to one webhook receiver and retries failures. */

import type { EventLog, LogEvent } from '../events/event-log.ts'
import {
  type Attempt,
  afterAttempt,
  type Delivery,
  hasExceededFailureWindow,
  isSuccess,
  requeue,
} from '../model/delivery.ts'
import type { Disabled, Webhook } from '../model/webhook.ts'
import type { WebhookRecord, WebhookStore } from '../state/webhooks.ts'
import type { Clock } from './clock.ts'
import { matches, newDelivery } from './message.ts'
import { createProgress, type Progress } from './progress.ts'
import type { RetryLimits } from './retry-limits.ts'

/**
 * The delivery loop of one receiver. It reads the event log from the receiver's cursor and sends one event at a time,
 * in order. In parallel it retries failed deliveries when they are due.
 */
export interface Receiver extends WebhookRecord {
  readonly progress: Progress
  /** Call it when an event was appended or the webhook changed. */
  wake(event?: LogEvent): void
  /**
   * Queues a delivery again, due now. Resolves to null if there is no such delivery. Rejects with the storage error.
   */
  redeliver(messageId: string): Promise<Delivery | null>
  /** Resolves when no request is running and everything is saved. */
  idle(): Promise<void>
  /** Gives running requests `graceMs` to end, then aborts them; the next start of the service sends those again. */
  close(graceMs: number): Promise<void>
  /** Called when the webhook is deleted: aborts its requests and saves nothing more. */
  discard(): void
}

export interface ReceiverDeps {
  store: WebhookStore
  eventLog: Pick<EventLog, 'read'>
  send(webhook: Webhook, delivery: Delivery, signal: AbortSignal): Promise<Attempt>
  /** Returns false before the service listens. */
  mayBegin(): boolean
  limits: RetryLimits
  disable(receiver: Receiver, reason: Disabled['reason']): void
  /** Called each time the receiver becomes idle. */
  onIdle(receiver: Receiver): void
  clock: Clock
  random(): number
  log(line: string): void
}

/** In addition to the one request of the main loop. */
const MAX_RETRIES_AT_ONCE = 4
/** Delay after the event log could not be read, or the list of retries was full. */
const PAUSE_MS = 1000
/** The receiver checks at least this often, to notice a changed clock or a machine that slept. */
const MAX_SLEEP_MS = 60_000
/** Retries wait at most 24 h plus 20 %; a later due time was written by a clock that ran ahead. */
const MAX_RETRY_WAIT_MS = 29 * 60 * 60 * 1000
const FAILURE_LOG_INTERVAL_MS = 60_000

export function createReceiver(record: WebhookRecord, deps: ReceiverDeps): Receiver {
  const { store, eventLog, clock, limits } = deps
  const { id } = record.webhook
  const waiters: (() => void)[] = []
  const abortController = new AbortController()
  let isClosed = false
  const log = (line: string) => deps.log(`webhook ${id}: ${line}`)
  const isActive = () => !isClosed && deps.mayBegin() && receiver.webhook.active

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
        checkIdle()
      })
    },
    async close(graceMs) {
      isClosed = true
      cancelSleep()
      const timer = setTimeout(() => abortController.abort(), graceMs)
      await Promise.all(runningAttempts.values())
      clearTimeout(timer)
      abortController.abort()
      progress.save()
    },
    discard() {
      isClosed = true
      cancelSleep()
      progress.discard()
      abortController.abort()
    },
  }
  const progress = createProgress(receiver, {
    store,
    clock,
    onSaved() {
      sendDue()
      checkIdle()
    },
  })

  // The main loop: events in order.

  let isRunning = false
  let hasMore = true
  let isPausing = false
  let hasLoggedReadError = false

  function wake(event?: LogEvent): void {
    const isNext = event && !isRunning && receiver.cursor === event.id - 1
    if (isNext && isActive() && !matches(receiver.webhook, event)) {
      receiver.cursor = event.id
      checkIdle()
      return
    }
    hasMore = true
    if (!event) sendDue()
    if (!isRunning && !isPausing && isActive()) void run()
  }

  async function run(): Promise<void> {
    isRunning = true
    try {
      while (hasMore && !isPausing && isActive()) {
        hasMore = false
        await sendNewEvents()
      }
      hasLoggedReadError = false
    } catch (error) {
      if (!hasLoggedReadError) log(`the event log could not be read; trying again: ${error}`)
      hasLoggedReadError = true
      pause()
    }
    isRunning = false
    checkIdle()
  }

  /** Sends the events after the cursor, until there are none or one must wait. */
  async function sendNewEvents(): Promise<void> {
    for await (const event of eventLog.read(receiver.cursor)) {
      if (!isActive()) return
      if (!limits.hasRoom(progress)) return pause()
      if (!matches(receiver.webhook, event)) {
        receiver.cursor = event.id
        continue
      }
      await progress.hasRoom()
      if (isActive()) await attempt(newDelivery(event), true)
      if (receiver.cursor < event.id) return
    }
  }

  function pause(): void {
    isPausing = true
    hasMore = true
    clock.later(PAUSE_MS, () => {
      isPausing = false
      wake()
    })
  }

  // Retries, each when it is due.

  /** Running attempts by event: retries, and at most one of the main loop. */
  const runningAttempts = new Map<number, Promise<void>>()
  /** Events whose delivery was requested again while an attempt is running. */
  const requeueRequested = new Set<number>()
  let runningRetries = 0
  let cancelSleep = () => {}
  let isWaitingForTurn = false

  /** Starts the retries that are due, and sleeps until the next one. `hasTurn`: the rate limit allows one now. */
  function sendDue(hasTurn = false): void {
    cancelSleep()
    if (!isActive() || progress.retrying === 0) return
    const now = clock.now()
    if (!progress.isFull && runningRetries < MAX_RETRIES_AT_ONCE) {
      const taken = runningAttempts.size + progress.unsaved.size
      const times = { now: toIso(now), latest: toIso(now + MAX_RETRY_WAIT_MS) }
      for (const delivery of store.due(id, times, taken + MAX_RETRIES_AT_ONCE)) {
        if (runningAttempts.has(delivery.event) || progress.unsaved.has(delivery.event)) continue
        if (runningRetries >= MAX_RETRIES_AT_ONCE || !(hasTurn || takeTurn())) break
        hasTurn = false
        void retry(delivery)
      }
    }
    const next = store.nextDue(id, toIso(now))
    const ms = next === null ? MAX_SLEEP_MS : Date.parse(next) - now
    cancelSleep = clock.later(Math.min(ms, MAX_SLEEP_MS), () => sendDue())
  }

  /** While the receiver fails, its retries share a rate limit with those of other receivers. */
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
    runningRetries++
    await attempt(delivery, false)
    runningRetries--
    sendDue()
  }

  async function redeliver(messageId: string): Promise<Delivery | null> {
    if (store.failure) throw store.failure
    progress.save()
    await store.flushed()
    const found = store.delivery(id, messageId)
    if (!found) return null
    const present = progress.unsaved.get(found.event) ?? found
    const due = requeue(present, toIso(clock.now()))
    if (runningAttempts.has(due.event)) requeueRequested.add(due.event)
    progress.add(due, present.state)
    progress.save()
    try {
      await store.flushed()
    } catch (error) {
      requeueRequested.delete(due.event)
      progress.add(present, 'retrying')
      throw error
    }
    sendDue()
    return due
  }

  // One attempt and its outcome.

  function attempt(delivery: Delivery, isFirst: boolean): Promise<void> {
    const work = send(delivery)
      .then((attempted) => {
        if (attempted) handleOutcome(delivery, attempted, isFirst)
      })
      .finally(() => {
        runningAttempts.delete(delivery.event)
        checkIdle()
      })
    runningAttempts.set(delivery.event, work)
    return work
  }

  /**
   * Returns null if a stop aborted the request. An internal error counts as a failed attempt, so that it is retried.
   */
  async function send(delivery: Delivery): Promise<Attempt | null> {
    const began = clock.now()
    try {
      return await deps.send(receiver.webhook, delivery, abortController.signal)
    } catch (cause) {
      if (abortController.signal.aborted) return null
      log(`${delivery.id} could not be sent: ${String(cause)}`)
      return {
        at: toIso(began),
        ms: clock.now() - began,
        status: null,
        error: 'the service could not send it; see its log',
        retry_after_ms: null,
      }
    }
  }

  function handleOutcome(delivery: Delivery, attempted: Attempt, isFirst: boolean): void {
    const now = clock.now()
    const outcome = afterAttempt(delivery, attempted, { now, random: deps.random() })
    const isRequeued = requeueRequested.delete(delivery.event) && outcome.state !== 'delivered'
    const after = isRequeued ? requeue(outcome, toIso(now)) : outcome
    recordResult(attempted)
    if (isFirst) receiver.cursor = delivery.event
    progress.add(after, isFirst ? null : 'retrying')
    if (after.state === 'dead') log(`gave up on ${delivery.id} after ${after.tries} attempts`)
    if (!receiver.webhook.active) return
    const { failing } = receiver
    if (attempted.status === 410) deps.disable(receiver, 'gone')
    else if (failing && hasExceededFailureWindow(failing, now)) deps.disable(receiver, 'failing')
  }

  let loggedAt = Number.NEGATIVE_INFINITY

  /**
   * Updates how often the receiver has failed in a row. Logs at most one failure a minute, so that a failing receiver
   * does not fill the log.
   */
  function recordResult(attempted: Attempt): void {
    if (isSuccess(attempted)) {
      receiver.failing = null
      return
    }
    if (attempted.status !== 410 && clock.now() - loggedAt > FAILURE_LOG_INTERVAL_MS) {
      log(`delivery failed and will be retried: ${attempted.error}`)
      loggedAt = clock.now()
    }
    const { since, count } = receiver.failing ?? { since: attempted.at, count: 0 }
    receiver.failing = { since, count: count + 1 }
  }

  function isIdle(): boolean {
    return !isRunning && runningAttempts.size === 0 && progress.isSaved
  }

  /** Resolves `idle` if nothing is left to do. */
  function checkIdle(): void {
    const isWaitedFor = waiters.length > 0 && progress.unsaved.size > 0
    if (isWaitedFor && !isRunning && runningAttempts.size === 0) progress.save()
    if (!isIdle()) return
    for (const waiter of waiters.splice(0)) waiter()
    if (!isClosed) deps.onIdle(receiver)
  }

  return receiver
}

function toIso(time: number): string {
  return new Date(time).toISOString()
}
