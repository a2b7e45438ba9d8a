/** As many retries without a word from the model end a run as well, however fast they are. */
const MOST = 100

/** Finds out when an agent does nothing any more but ask its model again and again. */
export interface RetryLimit {
  /** The agent says that it asks again. An agent that only thinks says nothing, and is never ended. */
  retry(text: string): void
  /** The model has answered: the agent says or does something. */
  progress(): void
  /** Why the run was ended, as a part of a sentence about the agent; null where it was not. */
  reached(): string | null
}

export function createRetryLimit(
  limitMs: number,
  onReached: () => void,
  now: () => number = () => performance.now(),
): RetryLimit {
  let first: number | null = null
  let count = 0
  let reached: string | null = null
  return {
    retry(text) {
      if (reached !== null) return
      first ??= now()
      count += 1
      const passed = now() - first
      if (passed < limitMs && count < MOST) return
      reached = `was ended: for ${durationText(passed)} it did nothing but ask its model again, ${count} times; the last time: ${text}`
      onReached()
    },
    progress() {
      first = null
      count = 0
    },
    reached: () => reached,
  }
}

function durationText(ms: number): string {
  const seconds = Math.round(ms / 1000)
  return seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} min`
}
