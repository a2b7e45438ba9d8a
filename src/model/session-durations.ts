import { spanText } from './amounts.ts'
import { isSessionState, type SessionState } from './session-state.ts'
import type { TrailLine } from './trail.ts'

/** How long a session planned, waited for the operator, and ran; null for phases it has not had. */
export interface SessionDurations {
  planned_ms: number | null
  waited_ms: number | null
  ran_ms: number | null
}

const SPENT: Partial<Record<SessionState, keyof SessionDurations>> = {
  created: 'planned_ms',
  planning: 'planned_ms',
  plan_ready: 'waited_ms',
  approved: 'ran_ms',
  executing: 'ran_ms',
}

/**
 * Computes the durations from the audit trail. A phase that is not over is not counted, so the result changes only
 * with the trail. A run counts once it is over.
 */
export function sessionDurations(trail: readonly TrailLine[]): SessionDurations {
  const durations: SessionDurations = { planned_ms: null, waited_ms: null, ran_ms: null }
  let state: SessionState | null = null
  let since = 0
  for (const { event, time, fields } of trail) {
    if (event !== 'session_created' && event !== 'session_state_changed') continue
    const next = event === 'session_created' ? 'created' : fields.new_state
    if (!isSessionState(next)) continue
    const now = Date.parse(time)
    const kind = state === null ? undefined : SPENT[state]
    if (kind) durations[kind] = (durations[kind] ?? 0) + Math.max(0, now - since)
    state = next
    since = now
  }
  if (state === 'executing') durations.ran_ms = null
  return durations
}

/** Formats durations: `planned 0.1 s, waited 4 d 3 h, ran 2.7 s`; empty if no phase is over. */
export function durationsText({ planned_ms, waited_ms, ran_ms }: SessionDurations): string {
  const parts = [
    ['planned', planned_ms],
    ['waited', waited_ms],
    ['ran', ran_ms],
  ] as const
  return parts.flatMap(([word, ms]) => (ms === null ? [] : [`${word} ${spanText(ms)}`])).join(', ')
}
