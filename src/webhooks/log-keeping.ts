import type { EventLog } from '../events/event-log.ts'
import type { Registered } from './registered.ts'

/** The disk may stay behind by so many events with what a receiver has passed that it did not want. */
const TIDY_EVENTS = 1000

/** Keeps in the log what receivers have still to get, and lets go of the rest. */
export interface LogKeeping {
  /** Says anew what is needed: a receiver came, went, or changed. */
  keep(): void
  /** Called often; does something only once much has passed. */
  passed(upTo: number): void
  idle(): Promise<void>
}

export function createLogKeeping(
  receivers: () => Iterable<Registered>,
  eventLog: Pick<EventLog, 'keepFrom'>,
  log: (line: string) => void,
): LogKeeping {
  let tidiedAt = 0
  let tidying: Promise<void> | null = null

  function keep(): void {
    // one that the service disabled may stay so for ever
    const waiting = [...receivers()].filter(({ webhook }) => webhook.disabled === null)
    const needed = waiting.map(({ journal }) => journal.syncedCursor)
    eventLog.keepFrom(needed.length > 0 ? Math.min(...needed) : null)
  }

  async function tidy(): Promise<void> {
    const synced = [...receivers()].map(({ receiver }) => receiver.sync())
    const failures = (await Promise.allSettled(synced)).filter(
      ({ status }) => status === 'rejected',
    )
    keep()
    const [first] = failures as PromiseRejectedResult[]
    if (first) throw first.reason
  }

  return {
    keep,
    passed(upTo) {
      if (tidying || upTo - tidiedAt < TIDY_EVENTS) return
      tidiedAt = upTo
      tidying = tidy()
        .catch((error: unknown) => log(`webhooks: progress is not on the disk: ${String(error)}`))
        .finally(() => {
          tidying = null
        })
    },
    idle: async () => tidying ?? undefined,
  }
}
