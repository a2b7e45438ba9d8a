import type { Clock } from './needs.ts'

/**
 * How fast retries to failing receivers may begin, all of them together. One that refuses at once
 * would otherwise be asked as fast as this machine can, for nothing: thousands of retries may be due
 * at one time, at many receivers.
 */
export interface Pace {
  /** Calls when it is one's turn: at once, or in the order of asking. */
  ask(call: () => void): void
}

export function createPace(clock: Clock, spacingMs = 10): Pace {
  const waiting: (() => void)[] = []
  let next = Number.NEGATIVE_INFINITY
  let isArmed = false

  function waitMs(): number {
    const wait = Math.max(0, next - clock.now())
    return wait > spacingMs ? 0 : wait // the clock was set back
  }

  function arm(): void {
    if (isArmed || waiting.length === 0) return
    isArmed = true
    clock.later(waitMs(), () => {
      isArmed = false
      const call = waiting.shift()
      if (call) begin(call)
      arm()
    })
  }

  function begin(call: () => void): void {
    next = clock.now() + spacingMs
    call()
  }

  return {
    ask(call) {
      if (waiting.length === 0 && !isArmed && waitMs() === 0) return begin(call)
      waiting.push(call)
      arm()
    },
  }
}
