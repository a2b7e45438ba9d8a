/** Limits retries, so that failing receivers do not use up memory, disk space and connections. */

import type { Clock } from './clock.ts'

/** The number of deliveries of one receiver that wait for a retry. */
interface Retrying {
  readonly retrying: number
}

/** Limits that all receivers share. */
export interface RetryLimits {
  /**
   * Whether another failed delivery of this receiver can be added to the retries. If not, its events wait in the log.
   */
  hasRoom(receiver: Retrying): boolean
  /**
   * Reserves the next retry to a failing receiver. Returns the milliseconds to wait. Without this, a receiver that
   * refuses connections at once would be called in a tight loop.
   */
  reserveRetry(): number
}

const MAX_RETRYING = 5000
const MAX_ALL_RETRYING = 20_000
/** A receiver with fewer retries always has room. */
const FEW_RETRYING = 100
const SPACING_MS = 10
/** Each receiver reserves one retry at a time, so a longer wait means that the clock was set back. */
const LONGEST_WAIT_MS = 5000

export function createRetryLimits(
  receivers: () => Iterable<Retrying>,
  clock: Pick<Clock, 'now'>,
): RetryLimits {
  let nextAt = Number.NEGATIVE_INFINITY

  return {
    hasRoom({ retrying }) {
      if (retrying < FEW_RETRYING) return true
      if (retrying >= MAX_RETRYING) return false
      let sum = 0
      for (const receiver of receivers()) sum += receiver.retrying
      return sum < MAX_ALL_RETRYING
    },
    reserveRetry() {
      const now = clock.now()
      const wait = nextAt - now
      const at = wait > 0 && wait <= LONGEST_WAIT_MS ? nextAt : now
      nextAt = at + SPACING_MS
      return at - now
    },
  }
}
