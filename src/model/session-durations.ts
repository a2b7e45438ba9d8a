import { spanText } from './amounts.ts'
import type { Session } from './session.ts'
import { isSessionState, type SessionState } from './session-state.ts'
import type { TrailLine } from './trail.ts'

/** How long a session planned, waited for the operator or in line, and ran; null for phases it has not had. */
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
  let isInLine = false
  for (const { event, time, fields } of trail) {
    if (event === 'queued') isInLine = true
    if (event !== 'session_created' && event !== 'session_state_changed') continue
    const next = event === 'session_created' ? 'created' : fields.new_state
    if (!isSessionState(next)) continue
    const now = Date.parse(time)
    const kind = isInLine ? 'waited_ms' : state === null ? undefined : SPENT[state]
    if (kind) durations[kind] = (durations[kind] ?? 0) + Math.max(0, now - since)
    isInLine = false
    state = next
    since = now
  }
  if (state === 'executing') durations.ran_ms = null
  return durations
}

/**
 * Of `ran_ms`: what the agent and the steps took, which the trail has; null before a run is over, and for a session in
 * a terminal, whose agent is no step.
 */
export function stepsTime({ trail, origin }: Pick<Session, 'trail' | 'origin'>): number | null {
  if (origin === 'terminal' || sessionDurations(trail).ran_ms === null) return null
  const begin = trail.findLastIndex(({ event }) => event === 'plan_approved')
  const times = trail.slice(Math.max(begin, 0)).flatMap((line) => {
    const ms = line.event === 'step_finished' ? line.fields.duration_ms : undefined
    return typeof ms === 'number' ? [ms] : []
  })
  return times.reduce((sum, ms) => sum + ms, 0)
}

/** What the service itself took before the first step and after the last; null if it is not worth a word. */
export function ownTime(ran_ms: number | null, steps_ms: number | null): number | null {
  if (ran_ms === null || steps_ms === null) return null
  const own = ran_ms - steps_ms
  return own >= 1000 && own >= ran_ms / 10 ? own : null
}

/** What a run is made of, for the reader of a page. */
export function runPartsText(ran_ms: number | null, steps_ms: number | null): string | undefined {
  const own = ownTime(ran_ms, steps_ms)
  if (own === null || steps_ms === null) return undefined
  return `Steps: ${spanText(steps_ms)}. Before and after: ${spanText(own)}, in which Casefile takes the state of the working folder, protects the record, ends what the steps left running, and reads changes and reports.`
}

/** Formats durations: `planned 0.1 s, waited 4 d 3 h, ran 47 s (steps 20 s)`; empty if no phase is over. */
export function durationsText({
  planned_ms,
  waited_ms,
  ran_ms,
  steps_ms = null,
}: SessionDurations & { steps_ms?: number | null }): string {
  const own = ownTime(ran_ms, steps_ms)
  const steps = own === null || steps_ms === null ? '' : ` (steps ${spanText(steps_ms)})`
  const parts = [
    ['planned', planned_ms],
    ['waited', waited_ms],
    ['ran', ran_ms],
  ] as const
  const text = parts.flatMap(([word, ms]) => (ms === null ? [] : [`${word} ${spanText(ms)}`]))
  return `${text.join(', ')}${steps}`
}
