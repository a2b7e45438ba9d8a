/** A run is also ended after this many retries without an answer, however fast they are. */
const MOST = 100

/** Detects an agent that does nothing but retry its model request. */
export interface RetryLimit {
  /** The agent reports a retry. An agent that is only thinking reports nothing, and is not ended. */
  retry(text: string): void
  /** The model has answered: the agent said or did something. */
  progress(): void
  /** Why the run was ended, as a predicate for a sentence about the agent; null if it was not. */
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
      reached = `was ended: for ${durationText(passed)} it only retried its model request (${count === 1 ? 'once' : `${count} times`}). Last error: ${text}`
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
