/** The delivery of one event to one receiver. All attempts send the same id and bytes. */
export interface Delivery {
  /** The `webhook-id` header. */
  id: string
  /** The event's id in the log. */
  event: number
  type: string
  /** The exact body. */
  envelope: string
  state: DeliveryState
  /** The latest attempts, oldest first. */
  attempts: readonly Attempt[]
  /** How many attempts of the retry schedule are used. */
  tries: number
  /** When the next attempt is due (ISO 8601); null unless `retrying`. */
  next_at: string | null
}

/** `dead`: the retry schedule is used up; only a request sends it again. */
export const DELIVERY_STATES = ['delivered', 'retrying', 'dead'] as const

export type DeliveryState = (typeof DELIVERY_STATES)[number]

/** The outcome of one request to the receiver. */
export interface Attempt {
  /** Start time, ISO 8601. */
  at: string
  ms: number
  /** HTTP status; null without an answer. */
  status: number | null
  /** Why it failed, for people; null for success. */
  error: string | null
  /** Milliseconds to wait, from the receiver's Retry-After header. */
  retry_after_ms: number | null
  /** Another attempt makes no sense. */
  isFinal?: boolean
}

const [S, M, H] = [1000, 60_000, 3_600_000]
/** The delays between attempts, as Standard Webhooks recommends: ten attempts in all. */
export const RETRY_WAITS_MS: readonly number[] = [
  5 * S,
  5 * M,
  30 * M,
  2 * H,
  5 * H,
  10 * H,
  14 * H,
  20 * H,
  24 * H,
]
export const JITTER = 0.2
/** The longest Retry-After that is respected. */
const MAX_RETRY_AFTER_MS = 24 * H
const MAX_ATTEMPTS = 20

export function isSuccess({ status, error }: Pick<Attempt, 'status' | 'error'>): boolean {
  return error === null && status !== null && status >= 200 && status < 300
}

/**
 * Returns the delivery after an attempt that ended at `now` (milliseconds since 1970). `random` is in [0, 1) and
 * spreads the delays.
 */
export function afterAttempt(
  delivery: Delivery,
  attempt: Attempt,
  { now, random }: { now: number; random: number },
): Delivery {
  const attempts = [...delivery.attempts, attempt].slice(-MAX_ATTEMPTS)
  const tries = delivery.tries + 1
  if (isSuccess(attempt)) return { ...delivery, attempts, tries, state: 'delivered', next_at: null }
  const wait = RETRY_WAITS_MS[tries - 1]
  if (wait === undefined || attempt.isFinal)
    return { ...delivery, attempts, tries, state: 'dead', next_at: null }
  const spread = wait * (1 + JITTER * (2 * random - 1))
  const asked = Math.min(attempt.retry_after_ms ?? 0, MAX_RETRY_AFTER_MS)
  const next_at = new Date(now + Math.max(spread, asked)).toISOString()
  return { ...delivery, attempts, tries, state: 'retrying', next_at }
}

/** Returns the delivery queued again by request: due at `now` (ISO 8601), with the whole retry schedule. */
export function requeue(delivery: Delivery, now: string): Delivery {
  return { ...delivery, state: 'retrying', tries: 0, next_at: now }
}

/** Consecutive failures of a receiver. */
export interface Failing {
  /** ISO 8601. */
  since: string
  count: number
}

const GIVE_UP_AFTER_MS = 120 * H
const GIVE_UP_ATTEMPTS = 10

/** Whether every attempt has failed for so long that the webhook should be disabled. */
export function hasExceededFailureWindow({ since, count }: Failing, now: number): boolean {
  return count >= GIVE_UP_ATTEMPTS && now - Date.parse(since) >= GIVE_UP_AFTER_MS
}
