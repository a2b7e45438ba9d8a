import type { ServerResponse } from 'node:http'

interface BackpressureLimits {
  /** More than this unsent, and the client must show that it reads. */
  maxUnsentBytes: number
  /** Without taking anything for so long, it does not. */
  stallMs: number
}

/** A client that reads, but slower than events come for a while, may lag behind this many times as far. */
const LAG = 8

/**
 * Tells a client that does not read from one that lags behind a burst: the first takes nothing, while
 * what it leaves grows. Gives a function to ask before each write.
 */
export function createBackpressure(
  res: ServerResponse,
  { maxUnsentBytes, stallMs }: BackpressureLimits,
): { isStalled(): boolean; sent(bytes: number): void } {
  let total = 0
  let taken = 0
  let tookAt = performance.now()

  function isStalled(): boolean {
    const now = performance.now()
    // Node holds back the writes of one tick; let go, or a burst would look like a stuck client.
    if (res.writableLength > maxUnsentBytes) {
      while (res.socket !== null && res.socket.writableCorked > 0) res.socket.uncork()
    }
    const unsent = res.writableLength
    if (unsent <= maxUnsentBytes || total - unsent > taken) {
      taken = Math.max(taken, total - unsent)
      tookAt = now
    }
    return unsent > LAG * maxUnsentBytes || now - tookAt > stallMs
  }

  return {
    isStalled,
    sent(bytes) {
      total += bytes
    },
  }
}
