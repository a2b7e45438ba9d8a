import type { Delivery } from '../model/delivery.ts'
import type { DeliveryJournal, Progress } from '../workspace/webhooks/delivery-journal.ts'
import type { Book } from './book.ts'
import type { Clock } from './needs.ts'

/** What came of something: when it is recorded, and only then, progress and book are as it says. */
export type Step = Partial<Progress> & { delivery?: Delivery }

/**
 * Writes a receiver's progress, one step after the other. None passes another: so a service that is
 * killed repeats no more than what was under way, and the cursor passes no failure that is not in the
 * list of retries.
 */
export interface ProgressWriter {
  /** Resolves when it is written, however often that has to be tried; rejects only once closed. */
  write(step: Step): Promise<void>
  /** The same for somebody who waits for an answer: rejects at once where the disk takes nothing. */
  writeNow(step: Step): Promise<void>
  /** As written last. */
  readonly cursor: number
}

interface ProgressWriterNeeds {
  journal: Pick<DeliveryJournal, 'append' | 'progress'>
  book: Book
  /** Of the receiver, as it stands in memory. */
  at: Progress
  isClosed(): boolean
  clock: Clock
  log(line: string): void
}

const AGAIN_MS = 1000

export function createProgressWriter(needs: ProgressWriterNeeds): ProgressWriter {
  const { journal, book, at, clock, log } = needs
  const hurried = new Set<(error: unknown) => void>()
  let queue = Promise.resolve()
  let failure: unknown = null
  let { cursor } = journal.progress

  async function put({ delivery, ...progress }: Step): Promise<void> {
    const next = { ...at, ...progress }
    await journal.append(next, delivery ?? null)
    failure = null
    cursor = next.cursor
    Object.assign(at, progress)
    if (delivery) book.put(delivery)
  }

  async function putPatiently(step: Step): Promise<void> {
    for (;;) {
      try {
        return await put(step)
      } catch (error) {
        if (needs.isClosed()) throw error
        if (failure === null) log(`its progress cannot be kept, so it waits: ${String(error)}`)
        failure = error
        for (const refuse of hurried) refuse(error)
        hurried.clear()
        await new Promise<void>((resolve) => {
          clock.later(AGAIN_MS, resolve)
        })
      }
    }
  }

  function inTurn(work: () => Promise<void>): Promise<void> {
    const job = queue.then(work)
    queue = job.catch(() => {}) // told to whoever asked for it
    return job
  }

  return {
    write: (step) => inTurn(() => putPatiently(step)),
    writeNow: (step) =>
      new Promise<void>((resolve, reject) => {
        if (failure !== null) return reject(failure)
        hurried.add(reject)
        const work = async () => {
          // refused already, when one before it could not be written
          if (hurried.delete(reject)) await put(step)
        }
        inTurn(work).then(resolve, reject)
      }),
    get cursor() {
      return cursor
    },
  }
}
