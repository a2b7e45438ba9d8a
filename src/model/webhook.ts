import { isDefault } from './event-lookup.ts'
import type { NotifyKind } from './settings.ts'

/** A registered webhook. */
export interface Webhook {
  id: string
  /** The case whose events it gets; null for all cases. */
  case_id: string | null
  url: string
  /** Set if it is an entry of `notify` in casefile.md; then `url` is as written there. */
  notify?: NotifyKind
  /** Event types; `*` means those of `DEFAULT_EVENTS`. */
  events: readonly string[]
  /** Earlier values of `events`, which apply to events up to these ids; oldest first. */
  earlier_events: readonly { events: readonly string[]; up_to: number }[]
  secret: string
  /** A replaced secret still signs too, until this time (ISO 8601). */
  previous_secret: { secret: string; until: string } | null
  /** False while it is paused, or after the service disabled it. */
  active: boolean
  disabled: Disabled | null
  /** Set when its case was deleted: the webhook ends after the event with this id. */
  ends_after: number | null
  created_at: string
  updated_at: string
}

/** Why the service stopped sending: the receiver answered 410, or all attempts failed for days. */
export interface Disabled {
  reason: 'gone' | 'failing'
  at: string
}

export const ALL_EVENTS = '*'

/** Whether a webhook gets events of this type. The caller checks the case. */
export function wantsType(
  { events: present, earlier_events }: Pick<Webhook, 'events' | 'earlier_events'>,
  type: string,
  id: number,
): boolean {
  const events = earlier_events.find(({ up_to }) => id <= up_to)?.events ?? present
  if (events.includes(type)) return true
  return events.includes(ALL_EVENTS) && isDefault(type)
}

export interface WebhookChange {
  url?: string
  events?: readonly string[]
  secret?: string
  active?: boolean
}

/** How long a replaced secret still signs, so that receivers can switch. */
const OVERLAP_MS = 24 * 60 * 60 * 1000

/** Applies a change at time `at` (ISO 8601), when the newest event has id `upTo`. */
export function changedWebhook(
  webhook: Webhook,
  change: WebhookChange,
  { at, upTo }: { at: string; upTo: number },
): Webhook {
  const next = { ...webhook, updated_at: at }
  if (change.url !== undefined) next.url = change.url
  if (change.active !== undefined) Object.assign(next, { active: change.active, disabled: null })
  if (change.events && String(change.events) !== String(webhook.events)) {
    next.events = change.events
    // without an event between two changes, the values before the first one apply
    const isFirstChange = webhook.earlier_events.at(-1)?.up_to !== upTo
    const before = { events: webhook.events, up_to: upTo }
    if (isFirstChange) next.earlier_events = [...webhook.earlier_events, before]
  }
  if (change.secret !== undefined && change.secret !== webhook.secret) {
    const until = new Date(Date.parse(at) + OVERLAP_MS).toISOString()
    next.previous_secret = { secret: webhook.secret, until }
    next.secret = change.secret
  }
  return next
}

/** Removes outdated values: an expired secret at `now` (ms), and `earlier_events` before the cursor. */
export function tidiedWebhook(webhook: Webhook, now: number, cursor: number): Webhook {
  const [, previous] = secretsOf(webhook, now)
  const earlier_events = webhook.earlier_events.filter(({ up_to }) => up_to > cursor)
  const previous_secret = previous === undefined ? null : webhook.previous_secret
  return { ...webhook, previous_secret, earlier_events }
}

/** Returns the secrets that sign at this time (milliseconds since 1970), the newest first. */
export function secretsOf(
  { secret, previous_secret }: Webhook,
  now: number,
): [string, ...string[]] {
  const isPast = previous_secret === null || Date.parse(previous_secret.until) <= now
  return isPast ? [secret] : [secret, previous_secret.secret]
}
