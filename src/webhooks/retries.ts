import type { Delivery } from '../model/delivery.ts'
import type { Clock } from './needs.ts'

/** Deliveries that wait for their next try. */
export interface Retries {
  /** Waits until its `next_at`, or can be taken at once; a second call for an id counts in place of the first. */
  add(delivery: Delivery): void
  /** Whether there is something to take. */
  isDue(): boolean
  /** The next one that is due; it no longer waits. Of those that fell due together, the oldest event first. */
  take(): Delivery | null
  stop(): void
}

/** No wait is longer (24 h and a fifth): a later time was written by a clock that ran ahead. */
const LONGEST_WAIT_MS = 29 * 60 * 60 * 1000
/** A clock that was set, or a machine that slept, is noticed after this. */
const LONGEST_SLEEP_MS = 60_000
/** A look is at all that wait, so not for each one that falls due. */
const BETWEEN_LOOKS_MS = 100

/** Calls `onDue` when something may be due. */
export function createRetries(clock: Clock, onDue: () => void): Retries {
  const waiting = new Map<string, { delivery: Delivery; at: number }>()
  let due: string[] = []
  let wakesAt = Number.POSITIVE_INFINITY
  let lookedAt = Number.NEGATIVE_INFINITY
  let isStopped = false
  let cancel = () => {}

  const isNow = (at: number, now: number) => at <= now || at > now + LONGEST_WAIT_MS

  function sleepUntil(time: number): void {
    if (time >= wakesAt || isStopped) return
    cancel()
    wakesAt = time
    const ms = Math.min(Math.max(0, time - clock.now()), LONGEST_SLEEP_MS)
    cancel = clock.later(ms, () => {
      wakesAt = Number.POSITIVE_INFINITY
      look()
      if (due.length > 0) onDue()
    })
  }

  function look(): void {
    const now = clock.now()
    lookedAt = now
    const all = [...waiting.values()]
    const found = all.filter(({ at }) => isNow(at, now)).map(({ delivery }) => delivery)
    due = found.sort((a, b) => a.event - b.event).map(({ id }) => id)
    sleepUntilNext(all, now)
  }

  function sleepUntilNext(all: readonly { at: number }[], now: number): void {
    let next = Number.POSITIVE_INFINITY
    for (const { at } of all) if (!isNow(at, now) && at < next) next = at
    if (Number.isFinite(next)) sleepUntil(Math.max(next, now + BETWEEN_LOOKS_MS))
  }

  function add(delivery: Delivery): void {
    if (isStopped) return
    const now = clock.now()
    const at = delivery.next_at === null ? now : Date.parse(delivery.next_at)
    waiting.set(delivery.id, { delivery, at })
    if (isNow(at, now)) due.push(delivery.id)
    else sleepUntil(lookedAt > now ? at : Math.max(at, lookedAt + BETWEEN_LOOKS_MS))
  }

  function take(): Delivery | null {
    for (let id = due.shift(); id !== undefined; id = due.shift()) {
      const found = waiting.get(id)
      if (!found) continue
      if (isNow(found.at, clock.now())) {
        waiting.delete(id)
        return found.delivery
      }
      sleepUntil(found.at) // put in again since, or the clock was set back
    }
    return null
  }

  return {
    add,
    take,
    isDue: () => due.length > 0,
    stop() {
      isStopped = true
      cancel()
      waiting.clear()
      due = []
    },
  }
}
