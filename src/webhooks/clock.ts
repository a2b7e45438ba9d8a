/** Time, so that tests need not wait for it. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number
  /** Calls once, after so many milliseconds; does not keep the process alive. Returns the way to cancel it. */
  later(ms: number, call: () => void): () => void
}

export const systemClock: Clock = {
  now: Date.now,
  later(ms, call) {
    const timer = setTimeout(call, ms).unref()
    return () => clearTimeout(timer)
  },
}
