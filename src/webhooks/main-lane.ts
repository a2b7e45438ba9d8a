import type { Webhook } from '../model/webhook.ts'
import type { EventLog } from '../workspace/log/event-log.ts'
import type { LogEvent } from '../workspace/log/log-line.ts'
import type { Progress } from '../workspace/webhooks/delivery-journal.ts'
import type { Book } from './book.ts'
import { newDelivery, wants } from './message.ts'
import type { Clock } from './needs.ts'
import type { Tries } from './tries.ts'

/** Takes a receiver through the log: events in their order, one at a time. */
export interface MainLane {
  /** There may be more to do: this event came, or something was changed. */
  wake(event?: LogEvent): void
  /** Room was made in the list of retries. */
  wakeIfHeld(): void
  readonly isMoving: boolean
}

interface MainLaneNeeds {
  webhook(): Webhook
  isOn(): boolean
  at: Progress
  book: Book
  tries: Tries
  eventLog: Pick<EventLog, 'read'>
  allRetrying(): number
  /** Called each time that it stops. */
  onRest(): void
  clock: Clock
  log(line: string): void
}

/** With so many in the list of retries, further events wait in the log: each takes some 4 KB of memory. */
const MAX_RETRYING = 5000
/** At all receivers; one with few has room all the same. */
const MAX_ALL_RETRYING = 20_000
const FEW = 100
/** After the log could not be read. */
const AGAIN_MS = 1000

export function createMainLane(needs: MainLaneNeeds): MainLane {
  const { webhook, isOn, at, book, tries, clock } = needs
  let isMoving = false
  let hasNews = true
  let isHeld = false

  function hasRoom(): boolean {
    const { size } = book.of('retrying')
    return size < FEW || (size < MAX_RETRYING && needs.allRetrying() < MAX_ALL_RETRYING)
  }

  function wake(event?: LogEvent): void {
    const isNext = event && !isMoving && at.cursor === event.id - 1
    if (isNext && isOn() && !wants(webhook(), event)) {
      at.cursor = event.id
      needs.onRest()
      return
    }
    hasNews = true
    if (isMoving || !isOn()) return
    isMoving = true
    follow().then(
      () => rest(),
      (error: unknown) => {
        needs.log(`the event log could not be read, and will be again: ${String(error)}`)
        hasNews = true
        clock.later(AGAIN_MS, wake)
        rest(false)
      },
    )
  }

  function rest(mayGoOn = true): void {
    isMoving = false
    if (mayGoOn && hasNews && isOn() && !(isHeld && !hasRoom())) wake()
    else needs.onRest()
  }

  async function follow(): Promise<void> {
    while (hasNews) {
      hasNews = false
      for await (const event of needs.eventLog.read(at.cursor)) {
        isHeld = !hasRoom()
        if (isHeld) hasNews = true
        if (isHeld || !isOn()) return
        await take(event)
        if (event.id > at.cursor) return
      }
    }
  }

  async function take(event: LogEvent): Promise<void> {
    const delivery = newDelivery(event)
    // known already where the journal was damaged, and the cursor therefore set back
    const isKnown = book.get(delivery.id) !== undefined
    if (isKnown || !wants(webhook(), event)) at.cursor = event.id
    else await tries.first(delivery)
  }

  return {
    wake,
    wakeIfHeld() {
      if (isHeld && hasRoom()) wake()
    },
    get isMoving() {
      return isMoving
    },
  }
}
