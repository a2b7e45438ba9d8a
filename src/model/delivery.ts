/** One event on its way to one receiver: always the same id and the same bytes. */
export interface Delivery {
  /** The `webhook-id` header. */
  id: string
  /** The event's id in the log. */
  event: number
  type: string
  /** The body, to the byte. */
  envelope: string
  state: DeliveryState
  /** The newest ones, oldest first. */
  attempts: readonly Attempt[]
  /** How many tries of the schedule are used up. */
  tries: number
  /** When the next try is due (ISO 8601); null unless `retrying`. */
  next_at: string | null
}

/** `dead`: the schedule came to its end; only a request sends it again. */
export const DELIVERY_STATES = ['delivered', 'retrying', 'dead'] as const

export type DeliveryState = (typeof DELIVERY_STATES)[number]

/** What came of one request to the receiver. */
export interface Attempt {
  /** When it began, ISO 8601. */
  at: string
  ms: number
  /** Null where no answer came. */
  status: number | null
  /** Why it failed, in words; null for success. */
  error: string | null
  /** Milliseconds that the receiver asked to be left alone, by Retry-After. */
  retry_after_ms: number | null
}

const [S, M, H] = [1000, 60_000, 3_600_000]
/** The waits between the tries (those of Standard Webhooks): ten tries in all. */
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
/** However long a receiver asks for. */
const LONGEST_ASKED_WAIT_MS = 24 * H
const KEPT_ATTEMPTS = 20

export function isSuccess({ status, error }: Pick<Attempt, 'status' | 'error'>): boolean {
  return error === null && status !== null && status >= 200 && status < 300
}

/**
 * The delivery after an attempt that ended at `now` (milliseconds since 1970); `random` is from 0 up
 * to 1, for the spread of the waits.
 */
export function afterAttempt(
  delivery: Delivery,
  attempt: Attempt,
  { now, random }: { now: number; random: number },
): Delivery {
  const attempts = [...delivery.attempts, attempt].slice(-KEPT_ATTEMPTS)
  const tries = delivery.tries + 1
  if (isSuccess(attempt)) return { ...delivery, attempts, tries, state: 'delivered', next_at: null }
  const wait = RETRY_WAITS_MS[tries - 1]
  if (wait === undefined) return { ...delivery, attempts, tries, state: 'dead', next_at: null }
  const spread = wait * (1 + JITTER * (2 * random - 1))
  const asked = Math.min(attempt.retry_after_ms ?? 0, LONGEST_ASKED_WAIT_MS)
  const next_at = new Date(now + Math.max(spread, asked)).toISOString()
  return { ...delivery, attempts, tries, state: 'retrying', next_at }
}

/** As its owner asked for once more: due at `now` (ISO 8601), with the whole schedule before it. */
export function onceMore(delivery: Delivery, now: string): Delivery {
  return { ...delivery, state: 'retrying', tries: 0, next_at: now }
}

/** Failures of a receiver with no success between them. */
export interface Failing {
  /** ISO 8601. */
  since: string
  count: number
}

const GIVE_UP_AFTER_MS = 120 * H
const GIVE_UP_ATTEMPTS = 10

/** Whether there was nothing but failures for so long that the receiver is left alone. */
export function isHopeless({ since, count }: Failing, now: number): boolean {
  return count >= GIVE_UP_ATTEMPTS && now - Date.parse(since) >= GIVE_UP_AFTER_MS
}
