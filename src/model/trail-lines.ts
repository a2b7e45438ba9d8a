/**
 * What a line of an audit trail says. A line stands for one act and for the state that it causes, so it implies one
 * event or several: `plan_approved … state=approved` is also `session_state_changed`. Lines of older files, and most
 * others, are one event each. This is the only place that knows which events a line implies.
 */

import type { EntryName } from './events.ts'
import { isSessionState, type SessionState } from './session-state.ts'
import {
  definedLine,
  type Fields,
  type FileLine,
  type NewFileLine,
  type NewTrailLine,
  nextTrailNumber,
  type TrailLine,
} from './trail.ts'

/** What earlier lines say, which a line need not repeat. */
interface Context {
  state: SessionState
  provider: unknown
}

/** Returns the events of lines that follow `before`. The events of one line have its number; the last one has the line. */
export function eventsOfLines(
  lines: readonly FileLine[],
  before: readonly TrailLine[] = [],
): TrailLine[] {
  const context: Context = { state: 'created', provider: '' }
  for (const event of before) note(context, event)
  return lines.flatMap(({ number, time, ...line }) => {
    const implied = impliedBy(line, context)
    const events = (implied ?? [line]).map((each) => ({ number, time, ...each }) as TrailLine)
    if (implied) events.at(-1)!.written = line
    for (const event of events) note(context, event)
    return events
  })
}

function note(context: Context, { event, fields, written }: TrailLine): void {
  if (event === 'session_created') context.provider = fields.provider
  context.provider = written?.fields.provider ?? context.provider
  if (event === 'session_state_changed' && isSessionState(fields.new_state))
    context.state = fields.new_state
}

/** Returns the events of new lines. */
export function numbered(
  trail: readonly TrailLine[],
  lines: readonly NewFileLine[],
  time: string,
): TrailLine[] {
  const first = nextTrailNumber(trail)
  const added = lines.map((line, index) => ({ number: first + index, time, ...line }))
  return eventsOfLines(added, trail)
}

/** Returns the lines of events, as `eventsOfLines` read them. */
export function linesOfEvents(events: readonly (TrailLine | FileLine)[]): FileLine[] {
  return events
    .filter(({ number }, index) => events[index + 1]?.number !== number)
    .map((event) => {
      const { number, time, fields } = event
      const line = ('written' in event && event.written) || { event: event.event, fields }
      return { number, time, ...line }
    })
}

function implied(event: EntryName, fields: Fields): NewTrailLine {
  return definedLine(event, fields) as NewTrailLine
}

/** Keys of a line that have the fields of an event which it implies. */
export const KEY_EVENTS: ReadonlyMap<string, EntryName> = new Map([
  ['scope_unreadable', 'scope_unreadable'],
  ['diff', 'diff_taken'],
  ['tests', 'tests_read'],
])

function inKey(key: string, { [key]: value }: Fields): NewTrailLine[] {
  const event = KEY_EVENTS.get(key)
  return event && isFields(value) ? [implied(event, value)] : []
}

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Null if the line is one event. */
function impliedBy({ event, fields }: NewFileLine, context: Context): NewTrailLine[] | null {
  const { state, from = context.state, provider = context.provider, ...more } = fields
  const { files, comments, comments_text, reason, case_state, ...own } = more
  if (!isSessionState(state)) return null
  const hasLoaded = files !== undefined && event !== 'context_loaded'
  const begun = hasLoaded
    ? [
        implied('context_loaded', { files }),
        implied('session_state_changed', { old_state: from, new_state: 'planning' }),
      ]
    : []
  /** A note with the comments that went with it, which the line has apart. */
  const withComments = (note: unknown) =>
    comments_text === undefined ? note : [note, comments_text].filter(Boolean).join('\n\n')
  const moved = implied('session_state_changed', {
    old_state: hasLoaded ? 'planning' : from,
    new_state: state,
    reason: event === 'plan_sent_back' ? withComments(reason) : reason,
    case_state,
  })
  const sent = (to: string, note: unknown) =>
    comments === undefined ? [] : [implied('comments_sent', { count: comments, with: to, note })]
  const ended = (mode: unknown) => implied('agent_completed', { provider, mode, state })
  const results = () => [...inKey('diff', own), ...inKey('tests', own)]
  switch (event) {
    case 'context_loaded':
      return [implied(event, { files, ...own }), moved]
    case 'plan_written': {
      const { hypothesis_sha256, plan_sha256, by } = own
      return [
        ...begun,
        ...(hypothesis_sha256 === undefined
          ? []
          : [implied('hypothesis_written', { sha256: hypothesis_sha256 })]),
        implied(event, { sha256: plan_sha256, by }),
        ...inKey('scope_unreadable', own),
        ...(by === undefined ? [ended('plan')] : []),
        moved,
      ]
    }
    case 'plan_approved':
      return [
        implied(event, { ...own, note: withComments(own.note) }),
        ...sent('approve', own.note),
        moved,
      ]
    case 'session_started':
      return [moved, implied(event, { provider, ...own })]
    case 'session_completed': {
      const { evidence_sha256 } = own
      return [
        ...results(),
        ...(evidence_sha256 === undefined
          ? []
          : [implied('evidence_recorded', { evidence_sha256 })]),
        ended('work'),
        moved,
        implied(event, {}),
      ]
    }
    case 'plan_sent_back':
      return [...sent('revise', reason), moved]
    case 'approval_taken_back':
      return [moved]
    case 'session_failed':
    case 'session_abandoned':
      return [...results(), ...begun, ...(own.mode === undefined ? [] : [ended(own.mode)]), moved]
    default:
      return null
  }
}
