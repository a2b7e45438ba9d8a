/** Limits of retries, so that receivers that fail do not use up memory, disk and connections. */

import type { Clock } from './clock.ts'

/** How many deliveries of a receiver wait for a retry. */
interface Retrying {
  readonly retrying: number
}

/** What failed deliveries may cost, those of all receivers together. */
export interface RetryLimits {
  /** Whether another failure of this receiver can be taken into the list of retries. If not, events wait in the log. */
  hasRoom(receiver: Retrying): boolean
  /**
   * Reserves the next retry to a failing receiver; says how many milliseconds it must wait. One that refuses at
   * once would otherwise be asked as fast as this machine can.
   */
  reserveRetry(): number
}

const MAX_RETRYING = 5000
const MAX_ALL_RETRYING = 20_000
/** A receiver with few has room whatever the others have. */
const FEW_RETRYING = 100
const SPACING_MS = 10
/** Each receiver reserves one retry at a time, so a longer wait comes from a clock that was set back. */
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
