/** The current time and timers; tests replace it to avoid waiting. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number
  /** Calls once after `ms`, without keeping the process alive. Returns a function that cancels it. */
  later(ms: number, call: () => void): () => void
}

export const systemClock: Clock = {
  now: Date.now,
  later(ms, call) {
    const timer = setTimeout(call, ms).unref()
    return () => clearTimeout(timer)
  },
}
