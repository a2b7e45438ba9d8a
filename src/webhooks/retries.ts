import type { Delivery } from '../model/delivery.ts'
import type { Clock } from './needs.ts'

/** Deliveries that wait for their next try. */
export interface Retries {
  /** Waits until its `next_at`, or can be taken at once; a second call for an id counts in place of the first. */
  add(delivery: Delivery): void
  /** Whether there is something to take. */
  isDue(): boolean
  /** The next one that is due, oldest event first; it no longer waits. */
  take(): Delivery | null
  stop(): void
}

/** No wait is longer (24 h and a fifth): a later time was written by a clock that ran ahead. */
const LONGEST_WAIT_MS = 29 * 60 * 60 * 1000
/** A clock that was set, or a machine that slept, is noticed after this. */
const LONGEST_SLEEP_MS = 60_000

/** Calls `onDue` when something may be due. */
export function createRetries(clock: Clock, onDue: () => void): Retries {
  const waiting = new Map<string, Delivery>()
  let due: string[] = []
  let wakesAt = Number.POSITIVE_INFINITY
  let cancel = () => {}

  function dueAt({ next_at }: Delivery): number {
    const at = next_at === null ? 0 : Date.parse(next_at)
    return at > clock.now() + LONGEST_WAIT_MS ? 0 : at
  }

  function sleepUntil(time: number): void {
    if (time >= wakesAt) return
    cancel()
    wakesAt = time
    const ms = Math.min(Math.max(0, time - clock.now()), LONGEST_SLEEP_MS)
    cancel = clock.later(ms, () => {
      wakesAt = Number.POSITIVE_INFINITY
      collect()
      if (due.length > 0) onDue()
    })
  }

  /** A look at all of them, so only when the first one is due. */
  function collect(): void {
    const now = clock.now()
    const all = [...waiting.values()]
    const found = all.filter((each) => dueAt(each) <= now).sort((a, b) => a.event - b.event)
    due = found.map(({ id }) => id)
    const next = all.reduce((first, each) => {
      const at = dueAt(each)
      return at > now ? Math.min(first, at) : first
    }, Number.POSITIVE_INFINITY)
    if (Number.isFinite(next)) sleepUntil(next)
  }

  return {
    add(delivery) {
      waiting.set(delivery.id, delivery)
      const at = dueAt(delivery)
      if (at <= clock.now()) due.push(delivery.id)
      else sleepUntil(at)
    },
    isDue: () => due.length > 0,
    take() {
      for (let id = due.shift(); id !== undefined; id = due.shift()) {
        const delivery = waiting.get(id)
        if (!delivery) continue
        const at = dueAt(delivery)
        if (at <= clock.now()) {
          waiting.delete(id)
          return delivery
        }
        sleepUntil(at) // put in again since, or the clock was set back
      }
      return null
    },
    stop() {
      cancel()
      waiting.clear()
      due = []
    },
  }
}
