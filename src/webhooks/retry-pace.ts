import type { Clock } from './clock.ts'

const SPACING_MS = 10
/** Each receiver reserves one retry at a time, so a longer wait means that the clock was set back. */
const LONGEST_WAIT_MS = 5000

/**
 * Reserves the next retry to a failing receiver, and returns the milliseconds to wait. All of them share this pace:
 * without it, a receiver that refuses connections at once would be called in a tight loop.
 */
export function createRetryPace(clock: Pick<Clock, 'now'>): () => number {
  let nextAt = Number.NEGATIVE_INFINITY
  return () => {
    const now = clock.now()
    const wait = nextAt - now
    const at = wait > 0 && wait <= LONGEST_WAIT_MS ? nextAt : now
    nextAt = at + SPACING_MS
    return at - now
  }
}
