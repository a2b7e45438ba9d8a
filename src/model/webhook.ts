/** A receiver of events, as its owner registered it. */
export interface Webhook {
  id: string
  /** The one case whose events it gets; null for all of the workspace. */
  case_id: string | null
  url: string
  /** Types of events, `*` for those of `DEFAULT_EVENTS`. */
  events: readonly string[]
  /** What it was to get of events up to these ids, before it was changed; oldest first. */
  earlier_events: readonly { events: readonly string[]; up_to: number }[]
  secret: string
  /** One that was replaced still signs too, until then (ISO 8601). */
  previous_secret: { secret: string; until: string } | null
  /** False while its owner paused it, or the service disabled it. */
  active: boolean
  disabled: Disabled | null
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

/** Sent only to webhooks that name them, and the actions of an audit trail. */
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
  'guarded',
  'agent_started',
  'agent_session',
  'agent_plan',
  'agent_usage',
  'tool_call',
  'agent_retry',
  'denied',
  'notes_unlisted',
  'plan_violation',
  'working_folder_changed',
  'changed_during_run',
  'diff_taken',
  'tests_read',
  'evidence_recorded',
  'proof_attached',
  'renumbered',
]

export const ALL_EVENTS = '*'

/** Whether a webhook gets an event of this type and id; of which case is another question. */
export function wantsType(
  { events: present, earlier_events }: Pick<Webhook, 'events' | 'earlier_events'>,
  type: string,
  id: number,
): boolean {
  const events = earlier_events.find(({ up_to }) => id <= up_to)?.events ?? present
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

/** Changed at a time (ISO 8601), when the newest event had the id `upTo`. */
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
    // of two changes with no event between them the first says what counted so far
    const isNews = webhook.earlier_events.at(-1)?.up_to !== upTo
    const before = { events: webhook.events, up_to: upTo }
    if (isNews) next.earlier_events = [...webhook.earlier_events, before]
  }
  if (change.secret !== undefined && change.secret !== webhook.secret) {
    const until = new Date(Date.parse(at) + OVERLAP_MS).toISOString()
    next.previous_secret = { secret: webhook.secret, until }
    next.secret = change.secret
  }
  return next
}

/** Without what does not count any more: a secret that is past at `now` (ms), events before the cursor. */
export function tidiedWebhook(webhook: Webhook, now: number, cursor: number): Webhook {
  const [, previous] = secretsOf(webhook, now)
  const earlier_events = webhook.earlier_events.filter(({ up_to }) => up_to > cursor)
  const previous_secret = previous === undefined ? null : webhook.previous_secret
  return { ...webhook, previous_secret, earlier_events }
}

/** Those that sign at this time (milliseconds since 1970), the newest first. */
export function secretsOf(
  { secret, previous_secret }: Webhook,
  now: number,
): [string, ...string[]] {
  const isPast = previous_secret === null || Date.parse(previous_secret.until) <= now
  return isPast ? [secret] : [secret, previous_secret.secret]
}
