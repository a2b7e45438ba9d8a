import type { EventLog, LogEvent } from '../events/event-log.ts'
import type { Attempt, Delivery } from '../model/delivery.ts'
import type { Disabled, Webhook } from '../model/webhook.ts'
import type { DeliveryJournal, Progress } from '../workspace/webhooks/delivery-journal.ts'
import type { Book } from './book.ts'
import { createMainLane } from './main-lane.ts'
import type { Clock } from './needs.ts'
import type { Pace } from './pace.ts'
import { createProgressWriter } from './progress-writer.ts'
import type { Room } from './room.ts'
import { createTries } from './tries.ts'

/** One receiver at work: what it still has to get, in order, and what failed, each when it is due. */
export interface Receiver {
  /** There may be more to do: this event came, or the webhook was changed. */
  wake(event?: LogEvent): void
  progress(): Progress
  /** A new start for one that was left alone: failures so far do not count any more. */
  forgive(): Promise<void>
  /** Puts a delivery into the queue again, due now. Rejects with the storage refusal. */
  again(delivery: Delivery): Promise<Delivery>
  /** Puts its progress on the disk, so that also a power cut leaves it. Rejects with the storage refusal. */
  sync(): Promise<void>
  /** Resolves when nothing is under way; what keeps the pace of retries may wait all the same. */
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
  pace: Pace
  room: Room
  /** The receiver is to be left alone; from now on `webhook().active` is false. */
  disable(reason: Disabled['reason']): void
  /** Called each time that nothing is left to do at the moment. */
  onIdle(): void
  clock: Clock
  random(): number
  log(line: string): void
}

export function createReceiver(needs: ReceiverNeeds): Receiver {
  const { webhook, journal } = needs
  const at: Progress = { ...journal.progress, cursor: needs.startsAfter }
  const waiters: (() => void)[] = []
  let isClosed = false

  const parts = {
    ...needs,
    at,
    isOn: () => !isClosed && needs.mayBegin() && webhook().active,
    log: (line: string) => needs.log(`webhook ${webhook().id}: ${line}`),
  }
  const writer = createProgressWriter({ ...parts, isClosed: () => isClosed })
  const tries = createTries({
    ...{ ...parts, writer },
    onEnd() {
      lane.wakeIfHeld()
      settle()
    },
  })
  const lane = createMainLane({ ...parts, tries, onRest: settle })

  const isIdle = () => tries.count === 0 && !lane.isMoving

  function settle(): void {
    if (!isIdle()) return
    for (const waiter of waiters.splice(0)) waiter()
    if (!isClosed) needs.onIdle()
  }

  async function writeCursor(): Promise<void> {
    if (writer.cursor !== at.cursor) await writer.writeNow({})
  }

  return {
    wake(event) {
      lane.wake(event)
      tries.pump()
    },
    progress: () => ({ ...at }),
    forgive: () => writer.writeNow({ failing: null }),
    again: tries.again,
    async sync() {
      await writeCursor()
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
      await tries.close(graceMs)
      await writeCursor().catch((error: unknown) => parts.log(String(error)))
      await journal.close()
    },
  }
}
