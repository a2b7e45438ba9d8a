import {
  type Attempt,
  afterAttempt,
  type Delivery,
  isHopeless,
  isSuccess,
  onceMore,
} from '../model/delivery.ts'
import type { Disabled, Webhook } from '../model/webhook.ts'
import type { Progress } from '../workspace/webhooks/delivery-journal.ts'
import type { Book } from './book.ts'
import type { Clock } from './needs.ts'
import type { Pace } from './pace.ts'
import type { ProgressWriter } from './progress-writer.ts'
import { createRetries } from './retries.ts'

/** The requests to one receiver: those of the main lane, and the retries that are due. */
export interface Tries {
  /** Sends an event for the first time, as soon as it may; resolves when it is recorded what came of it. */
  first(delivery: Delivery): Promise<void>
  /** Begins what is due. */
  pump(): void
  /** Puts a delivery into the queue again, due now. Rejects with the storage refusal. */
  again(delivery: Delivery): Promise<Delivery>
  /** How many are under way. */
  readonly count: number
  /** Lets them end for so long, then cuts them: they are made again at the next start. */
  close(graceMs: number): Promise<void>
}

export interface TriesNeeds {
  webhook(): Webhook
  isOn(): boolean
  at: Progress
  book: Book
  writer: ProgressWriter
  send(delivery: Delivery, signal: AbortSignal): Promise<Attempt>
  /** The receiver is to be left alone; from now on `isOn()` is false. */
  disable(reason: Disabled['reason']): void
  /** Called each time that one has ended. */
  onEnd(): void
  /** Of all receivers together. */
  pace: Pace
  clock: Clock
  random(): number
  log(line: string): void
}

/** At once, while several are overdue (design §5). */
const MAX_REQUESTS = 5
const SAY_MS = 60_000

export function createTries(needs: TriesNeeds): Tries {
  const { at, book, writer, clock, pace, isOn, log } = needs
  const retries = createRetries(clock, pump)
  const underWay = new Map<string, Promise<void>>()
  /** Those that were asked for again while they are under way. */
  const wished = new Set<string>()
  const cut = new AbortController()
  let saidAt = Number.NEGATIVE_INFINITY
  /** For its turn in the common pace. */
  let isAsking = false
  /** Set while the main lane waits for its turn; called when a request has ended. */
  let onTurn: (() => void) | null = null

  for (const delivery of book.of('retrying').values()) retries.add(delivery)

  async function first(delivery: Delivery): Promise<void> {
    while (underWay.size >= MAX_REQUESTS) {
      await new Promise<void>((resolve) => {
        onTurn = resolve
      })
    }
    onTurn = null
    const work = isOn() ? track(delivery, { cursor: delivery.event }) : null
    pump()
    await work
  }

  /** The main lane, where it waits, comes before them; while the receiver fails, they keep a pace. */
  function pump(): void {
    while (mayRetry()) {
      if (!at.failing) retry()
      else if (!isAsking) askToRetry()
      else return
    }
  }

  const mayRetry = () =>
    isOn() && onTurn === null && underWay.size < MAX_REQUESTS && retries.isDue()

  function retry(): void {
    const next = retries.take()
    if (next) void track(next, {})
  }

  function askToRetry(): void {
    isAsking = true
    pace.ask(() => {
      isAsking = false
      if (mayRetry()) retry()
      pump()
    })
  }

  function track(delivery: Delivery, progress: Partial<Progress>): Promise<void> {
    const work = attempt(delivery, progress)
      .catch((error: unknown) => {
        // void: it was cut by a stop
        if (!cut.signal.aborted) log(String(error))
      })
      .finally(() => {
        underWay.delete(delivery.id)
        const isWished = wished.delete(delivery.id)
        const present = book.get(delivery.id)
        if (present?.state === 'retrying') retries.add(present)
        if (present?.state === 'dead' && isWished) sendWished(present)
        onTurn?.()
        pump()
        needs.onEnd()
      })
    underWay.set(delivery.id, work)
    return work
  }

  async function attempt(delivery: Delivery, progress: Partial<Progress>): Promise<void> {
    const came = await send(delivery)
    const now = clock.now()
    const outcome = afterAttempt(delivery, came, { now, random: needs.random() })
    note(came)
    const isAgain = wished.delete(delivery.id) && outcome.state !== 'delivered'
    const after = isAgain ? onceMore(outcome, iso(now)) : outcome
    await writer.write({ ...progress, delivery: after })
    if (after.state === 'dead') log(`${delivery.id} is given up after ${after.tries} tries`)
    if (!needs.webhook().active) return
    if (came.status === 410) needs.disable('gone')
    else if (at.failing && isHopeless(at.failing, now)) needs.disable('failing')
  }

  /** What goes wrong in here is a failure too, so that it is tried again. */
  async function send(delivery: Delivery): Promise<Attempt> {
    const began = clock.now()
    try {
      return await needs.send(delivery, cut.signal)
    } catch (cause) {
      if (cut.signal.aborted) throw cause
      log(`${delivery.id} could not be sent: ${String(cause)}`)
      const error = 'the service could not send it; its log says why'
      const ms = clock.now() - began
      return { at: iso(began), ms, status: null, error, retry_after_ms: null }
    }
  }

  /** Not each failure is said in the log: one that fails now and then would fill it. */
  function note(came: Attempt): void {
    if (isSuccess(came)) {
      at.failing = null
      return
    }
    if (came.status !== 410 && clock.now() - saidAt > SAY_MS) {
      log(`it fails, and is tried again: ${came.error}`)
      saidAt = clock.now()
    }
    at.failing = { since: at.failing?.since ?? came.at, count: (at.failing?.count ?? 0) + 1 }
  }

  /** Written at once, so that a kill does not forget it; the outcome of a try under way heeds the wish. */
  async function again(delivery: Delivery): Promise<Delivery> {
    const due = onceMore(delivery, iso(clock.now()))
    if (underWay.has(delivery.id)) wished.add(delivery.id)
    await writer.writeNow({ delivery: due })
    if (underWay.has(delivery.id)) wished.add(delivery.id)
    else retries.add(due)
    pump()
    return due
  }

  /** The wish came between the outcome and its record. */
  function sendWished(delivery: Delivery): void {
    again(delivery).catch((error: unknown) => {
      log(`${delivery.id} is not sent again: ${String(error)}`)
    })
  }

  return {
    first,
    pump,
    again,
    get count() {
      return underWay.size
    },
    async close(graceMs) {
      retries.stop()
      const timer = setTimeout(() => cut.abort(), graceMs)
      await Promise.all(underWay.values())
      clearTimeout(timer)
      cut.abort()
    },
  }
}

function iso(time: number): string {
  return new Date(time).toISOString()
}
