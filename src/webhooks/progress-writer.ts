import type { Delivery } from '../model/delivery.ts'
import type { DeliveryJournal, Progress } from '../workspace/delivery-journal.ts'
import type { Clock } from './needs.ts'

/** Writes what came of deliveries, in order. */
export interface ProgressWriter {
  /**
   * Resolves when it is written, however often that has to be tried; `before` is called when its
   * turn has come. None passes another: so a service that is killed repeats no more than what was
   * under way, and the cursor passes no failure that is not in the list of retries.
   */
  write(delivery: Delivery | null, before?: () => void): Promise<void>
  /** As written last. */
  readonly cursor: number
}

interface ProgressWriterNeeds {
  progress(): Progress
  /** Then the first failure is passed on. */
  isClosed(): boolean
  clock: Clock
  log(line: string): void
}

const AGAIN_MS = 1000

export function createProgressWriter(
  journal: Pick<DeliveryJournal, 'append' | 'progress'>,
  { progress, isClosed, clock, log }: ProgressWriterNeeds,
): ProgressWriter {
  let queue = Promise.resolve()
  let { cursor } = journal.progress

  async function append(delivery: Delivery | null): Promise<void> {
    for (let isFirst = true; ; isFirst = false) {
      try {
        const now = progress()
        await journal.append(now, delivery)
        cursor = now.cursor
        return
      } catch (error) {
        if (isClosed()) throw error
        if (isFirst) log(`its progress cannot be kept, so it waits: ${String(error)}`)
        await new Promise<void>((resolve) => {
          clock.later(AGAIN_MS, resolve)
        })
      }
    }
  }

  return {
    write(delivery, before) {
      const job = queue.then(() => {
        before?.()
        return append(delivery)
      })
      queue = job.catch(() => {}) // told to whoever asked for it
      return job
    },
    get cursor() {
      return cursor
    },
  }
}
