import {
  type Attempt,
  afterAttempt,
  type Delivery,
  type Failing,
  isHopeless,
  isSuccess,
  onceMore,
} from '../model/delivery.ts'
import type { Disabled, Webhook } from '../model/webhook.ts'
import type { DeliveryJournal, Progress } from '../workspace/delivery-journal.ts'
import type { EventLog } from '../workspace/event-log.ts'
import type { LogEvent } from '../workspace/log-line.ts'
import type { Book } from './book.ts'
import { newDelivery, wants } from './message.ts'
import type { Clock } from './needs.ts'
import { createProgressWriter } from './progress-writer.ts'
import { createRetries } from './retries.ts'

/** One receiver at work: what it still has to get, in order, and what failed, each when it is due. */
export interface Receiver {
  /** There may be more to do: this event came, or the webhook was changed. */
  wake(event?: LogEvent): void
  progress(): Progress
  /** A new start for one that was left alone: failures so far do not count any more. */
  forgive(): void
  /** Puts a delivery into the queue again, due now. */
  again(delivery: Delivery): Promise<Delivery>
  /** Puts its progress on the disk, so that also a power cut leaves it. */
  sync(): Promise<void>
  /** Resolves when nothing is under way and all that can be sent at this time was. */
  idle(): Promise<void>
  /** Lets requests under way end for so long, then cuts them: they are made again at the next start. */
  close(graceMs: number): Promise<void>
}

export interface ReceiverNeeds {
  /** As it is registered now. */
  webhook(): Webhook
  /** False while nothing may be sent yet. */
  mayBegin(): boolean
  /** Its next event lies behind this id in the log. */
  startsAfter: number
  journal: DeliveryJournal
  book: Book
  eventLog: Pick<EventLog, 'read'>
  send(delivery: Delivery, signal: AbortSignal): Promise<Attempt>
  /** The receiver is to be left alone; from now on `webhook().active` is false. */
  disable(reason: Disabled['reason']): void
  /** Called each time that nothing is left to do at the moment. */
  onIdle(): void
  clock: Clock
  random(): number
  log(line: string): void
}

/** At once, while several are overdue (design §5). */
const MAX_REQUESTS = 5
/** With so many in the list of retries, further events wait in the log. */
const MAX_RETRYING = 10_000
const SAY_MS = 60_000

export function createReceiver(needs: ReceiverNeeds): Receiver {
  const { webhook, journal, book, clock, log } = needs
  const retries = createRetries(clock, pump)
  const underWay = new Map<string, Promise<void>>()
  const cut = new AbortController()
  let cursor = needs.startsAfter
  let failing: Failing | null = journal.progress.failing
  let isFollowing = false
  let hasNews = true
  let isHeld = false
  let isClosed = false
  let saidAt = Number.NEGATIVE_INFINITY
  const waiters: (() => void)[] = []
  /** Called when a request has ended, for the main lane that waits for its turn. */
  let onTurn: (() => void) | null = null

  for (const delivery of book.of('retrying').values()) retries.add(delivery)

  const isOn = () => !isClosed && needs.mayBegin() && webhook().active
  const progress = (): Progress => ({ cursor, failing })
  const writer = createProgressWriter(journal, {
    ...{ progress, clock, isClosed: () => isClosed },
    log: (line) => log(`webhook ${webhook().id}: ${line}`),
  })

  function wake(event?: LogEvent): void {
    const isUpToDate = event && !isFollowing && cursor === event.id - 1
    if (isUpToDate && isOn() && !wants(webhook(), event)) {
      cursor = event.id
      settle()
      return
    }
    hasNews = true
    pump()
    if (isFollowing || !isOn()) return
    isFollowing = true
    follow()
      .catch((error: unknown) => log(`webhook ${webhook().id}: ${String(error)}`))
      .finally(() => {
        isFollowing = false
        if (hasNews && isOn() && !isHeld) wake()
        else settle()
      })
  }

  /** The main lane: events in their order, one at a time. */
  async function follow(): Promise<void> {
    while (hasNews) {
      hasNews = false
      for await (const event of needs.eventLog.read(cursor)) {
        isHeld = book.of('retrying').size >= MAX_RETRYING
        if (!isOn() || isHeld) return
        await take(event)
        if (event.id > cursor) return
      }
    }
  }

  async function take(event: LogEvent): Promise<void> {
    const delivery = newDelivery(event)
    // known already where the journal was damaged, and the cursor therefore set back
    if (!wants(webhook(), event) || book.get(delivery.id)) {
      cursor = event.id
      return
    }
    while (underWay.size >= MAX_REQUESTS) await turn()
    if (isOn()) await track(delivery, event.id)
  }

  function turn(): Promise<void> {
    return new Promise((resolve) => {
      onTurn = resolve
    })
  }

  /** Begins what is due; the main lane, where it waits, comes first. */
  function pump(): void {
    if (!isOn()) return
    while (onTurn === null && underWay.size < MAX_REQUESTS) {
      const next = retries.take()
      if (next === null) return
      if (!underWay.has(next.id)) void track(next, null)
    }
  }

  function track(delivery: Delivery, takes: number | null): Promise<void> {
    const work = attempt(delivery, takes)
      .catch((error: unknown) => {
        // void: it was cut by a stop
        if (!cut.signal.aborted) log(`webhook ${webhook().id}: ${String(error)}`)
      })
      .finally(() => {
        underWay.delete(delivery.id)
        const waiter = onTurn
        onTurn = null
        waiter?.()
        pump()
        if (isHeld && book.of('retrying').size < MAX_RETRYING) wake()
        else if (takes === null) settle()
      })
    underWay.set(delivery.id, work)
    return work
  }

  /** `takes`: the id of the event, which the cursor passes with the record of what came of it. */
  async function attempt(delivery: Delivery, takes: number | null): Promise<void> {
    const came = await needs.send(delivery, cut.signal)
    const now = clock.now()
    const after = afterAttempt(delivery, came, { now, random: needs.random() })
    note(came)
    book.put(after)
    await writer.write(after, () => {
      cursor = takes ?? cursor
    })
    if (after.state === 'retrying') retries.add(after)
    if (after.state === 'dead') {
      log(`webhook ${webhook().id}: ${delivery.id} is given up after ${after.tries} tries`)
    }
    if (!webhook().active) return
    if (came.status === 410) needs.disable('gone')
    else if (failing && isHopeless(failing, now)) needs.disable('failing')
  }

  /** Not each failure is said in the log: one that fails now and then would fill it. */
  function note(came: Attempt): void {
    if (isSuccess(came)) {
      failing = null
      return
    }
    if (clock.now() - saidAt > SAY_MS) {
      log(`webhook ${webhook().id} fails, and is tried again: ${came.error}`)
      saidAt = clock.now()
    }
    failing = { since: failing?.since ?? came.at, count: (failing?.count ?? 0) + 1 }
  }

  const isIdle = () => underWay.size === 0 && !isFollowing

  function settle(): void {
    if (!isIdle()) return
    for (const waiter of waiters.splice(0)) waiter()
    if (!isClosed) needs.onIdle()
  }

  return {
    wake,
    progress,
    forgive() {
      failing = null
    },
    async again(delivery) {
      if (underWay.has(delivery.id)) return delivery
      const due = onceMore(delivery, new Date(clock.now()).toISOString())
      book.put(due)
      await writer.write(due)
      retries.add(due)
      pump()
      return due
    },
    async sync() {
      if (writer.cursor !== cursor) await writer.write(null)
      await journal.sync()
    },
    async idle() {
      if (isIdle()) return
      await new Promise<void>((resolve) => {
        waiters.push(resolve)
      })
    },
    async close(graceMs) {
      isClosed = true
      retries.stop()
      const timer = setTimeout(() => cut.abort(), graceMs)
      await Promise.all(underWay.values())
      clearTimeout(timer)
      cut.abort()
      if (writer.cursor !== cursor) await writer.write(null).catch((error) => log(String(error)))
      await journal.close()
    },
  }
}
