import type { EventLog, LogEvent } from '../events/event-log.ts'
import type { Webhook } from '../model/webhook.ts'
import type { Progress } from '../workspace/webhooks/delivery-journal.ts'
import type { Book } from './book.ts'
import { newDelivery, wants } from './message.ts'
import type { Clock } from './needs.ts'
import type { Room } from './room.ts'
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
  room: Room
  /** Called each time that it stops. */
  onRest(): void
  clock: Clock
  log(line: string): void
}

/** After the log could not be read. */
const AGAIN_MS = 1000

export function createMainLane(needs: MainLaneNeeds): MainLane {
  const { webhook, isOn, at, book, tries, room, clock } = needs
  let isMoving = false
  let hasNews = true
  let isHeld = false
  /** Until the log is to be read again. */
  let isWaiting = false
  let hasSaidWhy = false

  const hasRoom = () => room.hasRoom(book)

  function wake(event?: LogEvent): void {
    const isNext = event && !isMoving && at.cursor === event.id - 1
    if (isNext && isOn() && !wants(webhook(), event)) {
      at.cursor = event.id
      needs.onRest()
      return
    }
    hasNews = true
    if (isMoving || isWaiting || !isOn()) return
    isMoving = true
    follow().then(
      () => {
        hasSaidWhy = false
        rest()
      },
      (error: unknown) => {
        if (!hasSaidWhy)
          needs.log(`the event log could not be read, and will be again: ${String(error)}`)
        hasSaidWhy = true
        readLater()
        rest()
      },
    )
  }

  function readLater(): void {
    isWaiting = true
    clock.later(AGAIN_MS, () => {
      isWaiting = false
      wake()
    })
  }

  function rest(): void {
    isMoving = false
    if (hasNews && !isWaiting && isOn() && !(isHeld && !hasRoom())) wake()
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
    const delivery = wants(webhook(), event) ? newDelivery(event) : null
    // known already where the journal was damaged, and the cursor therefore set back
    if (!delivery || book.get(delivery.id)) at.cursor = event.id
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
