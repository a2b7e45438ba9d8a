/** Sends what is queued for one webhook, and retries what failed. */

import {
  type Attempt,
  afterAttempt,
  type Delivery,
  hasExceededFailureWindow,
  isSuccess,
} from '../model/delivery.ts'
import type { Disabled, Webhook } from '../model/webhook.ts'
import type { Database } from '../state/database.ts'
import {
  type Outcome,
  type QueuedEvent,
  saveOutcomes,
  type WebhookRow,
  type WebhookStore,
} from '../state/webhooks.ts'
import type { Clock } from './clock.ts'
import { newDelivery } from './message.ts'

/**
 * The delivery loop of one webhook: select what is due, send it, store the outcome. New events are sent one at a
 * time in their order; beside them, failed deliveries are retried when they are due.
 */
export interface Receiver extends WebhookRow {
  /** Call it when something was stored for this webhook, or the webhook changed. */
  wake(): void
  /** Resolves when no request is running and everything is stored. */
  idle(): Promise<void>
  /** Gives running requests `graceMs` to end, then aborts them; the next start of the service sends those again. */
  close(graceMs: number): Promise<void>
}

export interface ReceiverDeps {
  store: WebhookStore
  database: Pick<Database, 'write' | 'flushed'>
  send(webhook: Webhook, delivery: Delivery, signal: AbortSignal): Promise<Attempt>
  /** Returns false before the service listens. */
  mayBegin(): boolean
  /** The milliseconds to wait before a retry to a failing receiver. */
  reserveRetry(): number
  disable(receiver: Receiver, reason: Disabled['reason']): void
  /** Called each time the receiver has nothing left to do for now. */
  onIdle(receiver: Receiver): void
  clock: Clock
  random(): number
  log(line: string): void
}

/** In addition to the one request for new events. */
const MAX_RETRIES_AT_ONCE = 4
/** After a kill, at most so many new events are sent again. */
const STORED_TOGETHER = 10
/** Outcomes are stored after this time, even if fewer. */
const STORE_MS = 50
/** Delay after the queue could not be read. */
const PAUSE_MS = 1000
/** The receiver checks at least this often, to notice a changed clock or a machine that slept. */
const MAX_SLEEP_MS = 60_000
/** Retries wait at most 24 h plus 20 %; a later due time was written by a clock that ran ahead. */
const MAX_RETRY_WAIT_MS = 29 * 60 * 60 * 1000
const FAILURE_LOG_INTERVAL_MS = 60_000

export function createReceiver(record: WebhookRow, deps: ReceiverDeps): Receiver {
  const { store, database, clock } = deps
  const { id } = record.webhook
  const stopping = new AbortController()
  const requests = new Set<Promise<void>>()
  let isClosed = false
  const log = (line: string) => deps.log(`webhook ${id}: ${line}`)
  const isActive = () => !isClosed && deps.mayBegin() && receiver.webhook.active

  const receiver: Receiver = {
    ...record,
    wake,
    async idle() {
      while (isSending || retrying.size > 0) {
        await Promise.all(requests)
        await database.flushed()
      }
    },
    async close(graceMs) {
      isClosed = true
      cancelSleep()
      const timer = setTimeout(() => stopping.abort(), graceMs)
      await Promise.all(requests)
      clearTimeout(timer)
      stopping.abort()
    },
  }

  // The loop.

  let isSending = false
  /** The events whose deliveries are being retried. */
  const retrying = new Set<number>()
  let cancelSleep = () => {}
  let hasLoggedReadError = false

  function wake(): void {
    cancelSleep()
    if (isClosed) return
    try {
      const events = isActive() && !isSending ? store.queued(id, STORED_TOGETHER) : []
      if (events.length > 0) void sendInOrder(events)
      if (isActive()) retryDue()
      if (!isSending && retrying.size === 0) deps.onIdle(receiver)
      hasLoggedReadError = false
    } catch (error) {
      if (!hasLoggedReadError) log(`its queue could not be read; trying again: ${error}`)
      hasLoggedReadError = true
      cancelSleep = clock.later(PAUSE_MS, wake)
    }
  }

  async function sendInOrder(events: readonly QueuedEvent[]): Promise<void> {
    isSending = true
    for (const event of events) if (isActive()) await attempt(newDelivery(event))
    await storeOutcomes()
    isSending = false
    wake()
  }

  function retryDue(): void {
    const now = clock.now()
    const times = { now: toIso(now), latest: toIso(now + MAX_RETRY_WAIT_MS) }
    for (const delivery of store.due(id, times, 2 * MAX_RETRIES_AT_ONCE)) {
      if (retrying.has(delivery.event)) continue
      if (retrying.size >= MAX_RETRIES_AT_ONCE || !mayRetry()) break
      void retry(delivery)
    }
    const next = store.nextDue(id, times.now)
    if (next === null) return
    cancelSleep = clock.later(Math.min(Date.parse(next) - now, MAX_SLEEP_MS), wake)
  }

  async function retry(delivery: Delivery): Promise<void> {
    retrying.add(delivery.event)
    await attempt(delivery)
    await storeOutcomes()
    retrying.delete(delivery.event)
    wake()
  }

  let turn: 'none' | 'reserved' | 'now' = 'none'

  /** While the receiver fails, its retries share a rate limit with those of other receivers. */
  function mayRetry(): boolean {
    if (receiver.failing === null) return true
    if (turn === 'reserved') return false
    const ms = turn === 'now' ? 0 : deps.reserveRetry()
    turn = ms === 0 ? 'none' : 'reserved'
    if (ms === 0) return true
    clock.later(ms, () => {
      turn = 'now'
      wake()
    })
    return false
  }

  // One attempt and its outcome.

  let outcomes: Outcome[] = []
  let cancelStoring = () => {}

  function attempt(delivery: Delivery): Promise<void> {
    const request = send(delivery).then((attempted) => {
      requests.delete(request)
      if (attempted) noteOutcome(delivery, attempted)
    })
    requests.add(request)
    return request
  }

  /**
   * Returns null if a stop aborted the request. An internal error counts as a failed attempt, so that it is retried.
   */
  async function send(delivery: Delivery): Promise<Attempt | null> {
    const began = clock.now()
    try {
      return await deps.send(receiver.webhook, delivery, stopping.signal)
    } catch (cause) {
      if (stopping.signal.aborted) return null
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

  function noteOutcome(before: Delivery, attempted: Attempt): void {
    const now = clock.now()
    const after = afterAttempt(before, attempted, { now, random: deps.random() })
    outcomes.push({ before, after })
    if (outcomes.length === 1) cancelStoring = clock.later(STORE_MS, () => void storeOutcomes())
    if (attempted.isFinal) return // nothing was sent
    countFailures(attempted)
    if (after.state === 'dead') log(`gave up on ${after.id} after ${after.tries} attempts`)
    if (!receiver.webhook.active) return
    const { failing } = receiver
    if (attempted.status === 410) deps.disable(receiver, 'gone')
    else if (failing && hasExceededFailureWindow(failing, now)) deps.disable(receiver, 'failing')
  }

  /** Resolves when the outcomes so far are stored. Until then the loop sends no more than ten events. */
  function storeOutcomes(): Promise<void> {
    cancelStoring()
    const [known, failing] = [outcomes, receiver.failing]
    outcomes = []
    return new Promise((resolve) => {
      database.write((write) => saveOutcomes(write, id, known, failing), resolve)
    })
  }

  let loggedAt = Number.NEGATIVE_INFINITY

  /** Logs at most one failure a minute, so that a failing receiver does not fill the log. */
  function countFailures(attempted: Attempt): void {
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

  return receiver
}

function toIso(time: number): string {
  return new Date(time).toISOString()
}
