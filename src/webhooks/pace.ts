import type { Clock } from './needs.ts'

/** How fast retries to failing receivers may begin, all of them together. */
export interface Pace {
  /** Whether one may begin now; it then counts as begun. */
  mayBegin(): boolean
  /** Milliseconds until one may. */
  waitMs(): number
}

/**
 * A receiver that refuses at once would be asked as fast as this machine can, for nothing: thousands
 * of retries may be due at one time, at many receivers.
 */
export function createPace(clock: Clock, spacingMs = 10): Pace {
  let next = Number.NEGATIVE_INFINITY
  const waitMs = () => {
    const wait = Math.max(0, next - clock.now())
    return wait > spacingMs ? 0 : wait // the clock was set back
  }
  return {
    waitMs,
    mayBegin() {
      if (waitMs() > 0) return false
      next = clock.now() + spacingMs
      return true
    },
  }
}
