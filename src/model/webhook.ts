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
  secret: string
  /** A replaced secret still signs too, until this time (ISO 8601). */
  previous_secret: { secret: string; until: string } | null
  /** False while it is paused, or after the service disabled it. */
  active: boolean
  disabled: Disabled | null
  /** True: it still gets what happened before, and then ends. */
  case_deleted: boolean
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
export function wantsType({ events }: Pick<Webhook, 'events'>, type: string): boolean {
  return events.includes(type) || (events.includes(ALL_EVENTS) && isDefault(type))
}

export interface WebhookChange {
  url?: string
  events?: readonly string[]
  secret?: string
  active?: boolean
}

/** How long a replaced secret still signs, so that receivers can switch. */
const OVERLAP_MS = 24 * 60 * 60 * 1000

/** Applies a change at time `at` (ISO 8601), and removes an expired secret. */
export function changedWebhook(webhook: Webhook, change: WebhookChange, at: string): Webhook {
  const next = { ...webhook, updated_at: at }
  if (secretsOf(webhook, Date.parse(at)).length === 1) next.previous_secret = null
  if (change.url !== undefined) next.url = change.url
  if (change.events) next.events = change.events
  if (change.active !== undefined) Object.assign(next, { active: change.active, disabled: null })
  if (change.secret !== undefined && change.secret !== webhook.secret) {
    const until = new Date(Date.parse(at) + OVERLAP_MS).toISOString()
    next.previous_secret = { secret: webhook.secret, until }
    next.secret = change.secret
  }
  return next
}

/** Returns the secrets that sign at this time (milliseconds since 1970), the newest first. */
export function secretsOf(
  { secret, previous_secret }: Webhook,
  now: number,
): [string] | [string, string] {
  const isPast = previous_secret === null || Date.parse(previous_secret.until) <= now
  return isPast ? [secret] : [secret, previous_secret.secret]
}
