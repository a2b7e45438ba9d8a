/** A receiver of events, as its owner registered it. */
export interface Webhook {
  id: string
  /** The one case whose events it gets; null for all of the workspace. */
  case_id: string | null
  url: string
  /** Types of events, `*` for those of `DEFAULT_EVENTS`. */
  events: readonly string[]
  secret: string
  /** One that was replaced still signs too, until then (ISO 8601). */
  previous_secret: { secret: string; until: string } | null
  /** False while its owner paused it, or the service disabled it. */
  active: boolean
  disabled: Disabled | null
  /** It gets the events with larger ids in the log. */
  starts_after: number
  /** Set when its case was deleted: it ends once it has the events up to this id. */
  ends_after: number | null
  created_at: string
  updated_at: string
}

/** Why the service stopped sending: the receiver said 410, or for days there was nothing but failures. */
export interface Disabled {
  reason: 'gone' | 'failing'
  at: string
}

/** What `*` stands for: the specification's seven (§6.1). */
export const DEFAULT_EVENTS: readonly string[] = [
  'session_started',
  'session_completed',
  'proof_created',
  'proof_updated',
  'agent_completed',
  'case_updated',
  'case_state_changed',
]

/** Sent only to webhooks that name them (design §5), and the actions of an audit trail. */
export const FURTHER_EVENTS: readonly string[] = [
  'case_created',
  'case_deleted',
  'memory_updated',
  'problem_found',
  'problem_cleared',
  'webhook_disabled',
  'session_created',
  'session_state_changed',
  'session_sealed',
  'step_started',
  'step_finished',
  'context_loaded',
  'hypothesis_written',
  'plan_written',
  'plan_edited',
  'plan_approved',
  'tool_call',
  'denied',
  'diff_taken',
  'tests_read',
  'proof_attached',
]

export const ALL_EVENTS = '*'

/** Whether a webhook gets an event of this type; of which case is another question. */
export function wantsType({ events }: Pick<Webhook, 'events'>, type: string): boolean {
  if (events.includes(type)) return true
  return events.includes(ALL_EVENTS) && DEFAULT_EVENTS.includes(type)
}

export interface WebhookChange {
  url?: string
  events?: readonly string[]
  secret?: string
  active?: boolean
}

/** After a change of secret the old one signs too for so long, so that receivers can follow. */
const OVERLAP_MS = 24 * 60 * 60 * 1000

/** `at` is ISO 8601. */
export function changedWebhook(webhook: Webhook, change: WebhookChange, at: string): Webhook {
  const { secret, active = webhook.active, url = webhook.url, events = webhook.events } = change
  const next = { ...webhook, url, events, active, updated_at: at }
  if (change.active !== undefined) next.disabled = null
  if (secret === undefined || secret === webhook.secret) return next
  const until = new Date(Date.parse(at) + OVERLAP_MS).toISOString()
  return { ...next, secret, previous_secret: { secret: webhook.secret, until } }
}

/** Those that sign at this time (milliseconds since 1970), the newest first. */
export function secretsOf(
  { secret, previous_secret }: Webhook,
  now: number,
): [string, ...string[]] {
  const isPast = previous_secret === null || Date.parse(previous_secret.until) <= now
  return isPast ? [secret] : [secret, previous_secret.secret]
}
