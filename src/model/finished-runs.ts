import type { Session } from './session.ts'
import { type SessionDurations, sessionDurations } from './session-durations.ts'

/** A run of a session that came to its end, on whichever machine. */
export interface FinishedRun extends SessionDurations {
  ended_at: string
  provider: string
  /** Whether it completed without failed tests. */
  passed: boolean
}

/** The runs of a case that completed or failed; not those that were abandoned, nor failures while planning. */
export function finishedRuns(
  sessions: readonly Pick<Session, 'provider' | 'tests' | 'trail'>[],
): FinishedRun[] {
  return sessions.flatMap(({ provider, tests, trail }) => {
    const durations = sessionDurations(trail)
    const ends = trail.flatMap(({ event, time, fields }) => {
      if (event !== 'session_state_changed' || fields.old_state !== 'executing') return []
      const isEnd = fields.new_state === 'complete' || fields.new_state === 'failed'
      return isEnd ? [{ time, state: fields.new_state }] : []
    })
    const end = ends.at(-1)
    if (!end || durations.ran_ms === null) return []
    const passed = end.state === 'complete' && (tests?.failed ?? 0) === 0
    return [{ ended_at: end.time, provider, passed, ...durations }]
  })
}
