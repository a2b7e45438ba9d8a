import type { Session } from '../model/session.ts'
import type { TrailLine } from '../model/trail.ts'

/** The one form of every event on every channel: exactly these three members. */
export interface Envelope {
  event_type: string
  timestamp: string
  payload: Record<string, unknown>
}

/**
 * A trail line as the event that it is: sent as read back from the file. `session_completed` has no field of its
 * line: older files have the hash of the evidence there.
 */
export function trailEnvelope(session: Session, line: TrailLine): Envelope {
  // a field of that name in a trail must not pass for another session
  const { session_id: _, case_id: __, ...rest } = line.fields
  const fields = line.event === 'session_completed' ? {} : rest
  return {
    event_type: line.event,
    timestamp: line.time,
    payload: { ...fields, case_id: session.case_id, session_id: session.id },
  }
}

/** Output as it comes. It is in no trail and has no id: `step_finished` and artifacts keep it. */
export interface SessionOutput {
  case_id: string
  session_id: string
  step: string
  stream: 'stdout' | 'stderr'
  /** The name of the artifact that gets all output of the step. */
  artifact: string
  /** At which byte of the artifact the text begins; null for words of the service's own, which are not in it. */
  offset: number | null
  text: string
  time: string
}

export function outputEnvelope({ time, ...payload }: SessionOutput): Envelope {
  return { event_type: 'session_output', timestamp: time, payload }
}
