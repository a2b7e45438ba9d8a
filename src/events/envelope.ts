import type { Session } from '../model/session.ts'
import type { TrailLine } from '../model/trail.ts'

/** The format of every event on every channel: exactly these three members. */
export interface Envelope {
  event_type: string
  timestamp: string
  payload: Record<string, unknown>
}

/**
 * Turns an audit line into its event, as read back from the file. `session_completed` has no fields in its line;
 * older files have the evidence hash there.
 */
export function trailEnvelope(session: Session, line: TrailLine): Envelope {
  // a field with this name in an audit trail must not override the session id
  const { session_id: _, case_id: __, ...rest }: Record<string, unknown> = line.fields
  const fields = line.event === 'session_completed' ? {} : rest
  return {
    event_type: line.event,
    timestamp: line.time,
    payload: { ...fields, case_id: session.case_id, session_id: session.id },
  }
}

/** Live output of a step. It has no id and is not in the audit trail; `step_finished` and artifacts contain it. */
export interface SessionOutput {
  case_id: string
  session_id: string
  step: string
  stream: 'stdout' | 'stderr'
  /** Name of the artifact with the whole output of the step. */
  artifact: string
  /** Byte offset of the text in the artifact; null for text of the service, which is not in the artifact. */
  offset: number | null
  text: string
  time: string
}

export function outputEnvelope({ time, ...payload }: SessionOutput): Envelope {
  return { event_type: 'session_output', timestamp: time, payload }
}
