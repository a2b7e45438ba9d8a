import type { EntryName, EventFields, FieldsRead } from './events.ts'
import { isSessionState, type SessionState } from './session-state.ts'

/**
 * One event of a session's audit trail. `number` is that of its line, which may imply several events. A line that a
 * person or another version wrote may have any other event and fields, and is kept as it is: so a value is `unknown`, and
 * no code may expect to have listed all events.
 */
export type TrailLine = {
  [Name in EntryName]: {
    number: number
    time: string
    event: Name
    fields: FieldsRead<Name>
    /** The line that implies it and the events before it with this number; missing if the line is this event. */
    written?: NewFileLine
  }
}[EntryName]

/** A line as it is in the file: one act, and the state that it causes. trail-lines.ts has the events that it implies. */
export interface FileLine {
  number: number
  time: string
  event: string
  fields: Fields
}

export type Fields = Readonly<Record<string, unknown>>

/** A line to write, before it has a number and a time. */
export type NewFileLine = Pick<FileLine, 'event' | 'fields'>

/** A line that is one event, as the service writes it. */
export type NewTrailLine<Names extends EntryName = EntryName> = {
  [Name in Names]: { event: Name; fields: EventFields<Name> }
}[Names]

/** The same, but optional fields may also be undefined. */
type WithUndefined<Fields> = {
  [Key in keyof Fields]:
    | Fields[Key]
    | (Partial<Fields> extends Pick<Fields, Key> ? undefined : never)
}

/** A new line, without the fields that are undefined. A literal with a field that the event does not have is an error. */
export function newLine<Name extends EntryName>(
  event: Name,
  fields: WithUndefined<EventFields<Name>>,
): NewTrailLine<Name> {
  return definedLine(event, fields) as NewTrailLine<Name>
}

/** The same for fields of any names. */
export function definedLine(event: string, fields: Fields): NewFileLine {
  const defined = Object.entries(fields).filter(([, value]) => value !== undefined)
  return { event, fields: Object.fromEntries(defined) }
}

export type LineWith<Name extends EntryName> = Extract<TrailLine, { event: Name }>

/** Returns the next line number: the highest plus one, so that a removed line leaves a gap and no duplicate. */
export function nextTrailNumber(trail: readonly Pick<FileLine, 'number'>[]): number {
  return trail.reduce((highest, line) => Math.max(highest, line.number), 0) + 1
}

/** Returns the last line with this event. */
export function lastOf<Name extends EntryName>(
  trail: readonly TrailLine[],
  event: Name,
): LineWith<Name> | undefined {
  return trail.findLast((line): line is LineWith<Name> => line.event === event)
}

/**
 * Returns the hash over plan, output, diff and tests when the session completed. Older files have it in the line
 * `session_completed`.
 */
export function evidenceHashIn(trail: readonly TrailLine[]): unknown {
  const line = lastOf(trail, 'evidence_recorded') ?? lastOf(trail, 'session_completed')
  const fields: Readonly<Record<string, unknown>> = line?.fields ?? {}
  return fields.evidence_sha256
}

/** No session adds more lines at once; a larger gap was written by a person. */
const MAX_LEAP = 10_000

/**
 * Returns the lines that count: those with ascending numbers, up to the seal. Lines that a person or process inserted
 * out of order are dropped. If a second trail begins, it is the real one: text in a section that looks like a trail
 * always comes before.
 */
export function trueLines(lines: readonly FileLine[]): FileLine[] {
  let counted: FileLine[] = []
  let last = 0
  for (const line of lines) {
    if (line.number === 1 && line.event === 'session_created') {
      counted = []
      last = 0
    }
    if (line.number <= last || line.number > last + MAX_LEAP) continue
    counted.push(line)
    last = line.number
    if (line.event === 'session_sealed') break
  }
  return counted
}

/** Returns the state from the last audit line that has one; null if no line does. */
export function stateInTrail(trail: readonly TrailLine[]): SessionState | null {
  for (let index = trail.length - 1; index >= 0; index--) {
    const line = trail[index]!
    if (line.event === 'session_created') return 'created'
    const state = line.event === 'session_state_changed' ? line.fields.new_state : undefined
    if (isSessionState(state)) return state
  }
  return null
}

/** The approval that counts: the last one, unless the session left the line without a start. */
export function standingApproval(
  trail: readonly TrailLine[],
): LineWith<'plan_approved'> | undefined {
  const approved = lastOf(trail, 'plan_approved')
  const isWithdrawn = trail.some(
    ({ event, fields, number }) =>
      event === 'session_state_changed' &&
      fields.new_state === 'plan_ready' &&
      number > (approved?.number ?? 0),
  )
  return isWithdrawn ? undefined : approved
}

/** The line that says since when an approved session waits for its working folder; undefined if it does not wait. */
export function lineInQueue(trail: readonly TrailLine[]): LineWith<'queued'> | undefined {
  return stateInTrail(trail) === 'approved' ? queuedLine(trail) : undefined
}

/** The same line once the session has started; undefined if it did not wait. */
export function queuedLine(trail: readonly TrailLine[]): LineWith<'queued'> | undefined {
  const queued = lastOf(trail, 'queued')
  const approved = lastOf(trail, 'plan_approved')
  return queued && queued.number > (approved?.number ?? 0) ? queued : undefined
}
