import type { EventLog } from '../events/event-log.ts'
import type { Database } from '../state/database.ts'
import { limitQueue, queueEvent, type WebhookStore } from '../state/webhooks.ts'
import { matches } from './message.ts'
import type { Receiver } from './receiver.ts'

interface QueueDeps {
  eventLog: Pick<EventLog, 'writeAlongside' | 'subscribe'>
  receivers: ReadonlyMap<string, Receiver>
  store: WebhookStore
  database: Pick<Database, 'write'>
  log(line: string): void
}

/** How many events wait at most for a webhook that is paused or slow, or that was disabled and may be forgotten. */
const MAX_QUEUED = { enabled: 100_000, disabled: 10_000 }
const CHECKED_EVERY = 1000

/** From now on each event is queued, in its transaction, for the webhooks that want it when it happens. */
export function queueEvents({ eventLog, receivers, store, database, log }: QueueDeps): void {
  eventLog.writeAlongside((events) => {
    const wanted = [...receivers.values()]
      .filter(({ webhook }) => !webhook.case_deleted)
      .map((receiver) => ({
        receiver,
        events: events.filter((event) => matches(receiver.webhook, event)),
      }))
      .filter(({ events }) => events.length > 0)
    return {
      write(run) {
        for (const { receiver, events } of wanted) {
          for (const event of events) queueEvent(run, receiver.webhook.id, event)
        }
      },
      onWritten() {
        for (const { receiver } of wanted) receiver.wake()
      },
    }
  })
  eventLog.subscribe(({ id }) => {
    if (id % CHECKED_EVERY === 0) for (const each of receivers.values()) limit(each)
  })

  /** Drops the oldest events of a receiver that took none for too long. */
  function limit({ webhook: { id, disabled } }: Receiver): void {
    const most = disabled ? MAX_QUEUED.disabled : MAX_QUEUED.enabled
    const excess = store.count(id, ['queued']) - most
    if (excess <= 0) return
    log(`webhook ${id}: ${most} events wait already, so it will not get the oldest ${excess}`)
    database.write((run) => limitQueue(run, id, most))
  }
}
