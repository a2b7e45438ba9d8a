import { hash } from 'node:crypto'
import { isSessionType } from '../model/case-state.ts'
import { approverIn } from '../model/history.ts'
import { SLUG, SLUG_RULE, UUID } from '../model/name-patterns.ts'
import { isBreaking, type Problem } from '../model/problem.ts'
import { isSealed, type Session } from '../model/session.ts'
import { isFinalState, isSessionState, SESSION_STATES } from '../model/session-state.ts'
import {
  type FileLine,
  standingApproval,
  stateInTrail,
  type TrailLine,
  trueLines,
} from '../model/trail.ts'
import { eventsOfLines } from '../model/trail-lines.ts'
import { conflictLine } from './conflict-markers.ts'
import { type FieldReader, fieldReader, readFields } from './fields.ts'
import { readDiff, readFailedTests, readTests } from './session-evidence.ts'
import { plainFrontmatter } from './session-plain.ts'
import { closingOf, readTrail, type TrailPart } from './trail.ts'

/** Far above what the service writes: 200 steps, two texts of 256 KiB, output of 64 KiB. */
export const MAX_SESSION_BYTES = 8 * 1024 * 1024

/** Values from the path of a session file, which decide its number and case, and defaults for missing fields. */
export interface SessionOrigin {
  case_id: string
  number: number
  case_title: string
  created_at: string
}

export interface SessionReading {
  value: Session | null
  problems: Problem[]
}

/**
 * Reads the head and the trail of a session file; `session-texts.ts` reads the sections on demand.
 * The state is that of the last trail line with one; `state` in the frontmatter is a copy for
 * readers.
 */
export function readSession(text: string, origin: SessionOrigin): SessionReading {
  const file = `sessions/${origin.number}.md`
  const trail = readTrail(text)
  const isStored = (plan: string) => trail !== null && text.includes(sha256(plan), trail.start)
  const asWritten = readFields(text, file, conflictLine(text, isStored))
  const hasNoFrontmatter = asWritten.ok && asWritten.document.fields === null
  const read = hasNoFrontmatter ? readFields(plainFrontmatter(text), file) : asWritten
  if (!read.ok) return { value: null, problems: [read.problem] }
  const reader = fieldReader(read.document, file)
  const allLines = trail?.lines.map((each) => each.line) ?? []
  const validLines = trueLines(allLines)
  const events = eventsOfLines(validLines)
  const stateText = reader.text('state')
  const writtenState = readState(stateText, reader)
  if (stateText === null && stateInTrail(events) === null) {
    const message = `no state is written, so the session counts as abandoned: add a line state: with one of ${SESSION_STATES.join(', ')}`
    reader.problems.push({ code: 'missing_state', file, line: null, message })
  }
  const trailState = stateInTrail(events) ?? writtenState
  // a state set by hand is ignored, except `abandoned`, which only removes permissions
  const isOpen = !isFinalState(trailState, false) && !isSealed({ trail: events })
  const isAbandonedByHand = stateText === 'abandoned'
  const state = isAbandonedByHand && isOpen ? 'abandoned' : trailState
  if (reader.has('state') && writtenState !== trailState) {
    const why =
      state === trailState
        ? `state: ${stateText ?? writtenState} was written by hand; the session is ${trailState} (only a request changes the state)`
        : `state: ${writtenState} was written by hand while the session was ${trailState}: the service abandons the session and stops its run`
    reader.problem('state', 'state_by_hand', why)
  }
  if (validLines.length < allLines.length && !isSealed({ trail: events })) {
    const message =
      'lines of the audit trail have numbers out of order: the service ignores them, and the next write removes them'
    reader.problems.push({ code: 'trail_changed', file, line: null, message })
  }
  reader.checkAgainstPath('case_id', origin.case_id)
  reader.checkAgainstPath('number', String(origin.number))
  const asCreated = readCreatedFields(reader, validLines[0])
  const value: Session = {
    id: asCreated.id ?? reader.matching('id', UUID, 'a UUID in lower case') ?? derivedId(origin),
    number: origin.number,
    case_id: origin.case_id,
    case_title: reader.text('case_title') ?? origin.case_title,
    type: asCreated.type ?? readType(reader),
    state,
    started_at: asCreated.started_at ?? reader.time('started_at') ?? origin.created_at,
    completed_at: reader.time('completed_at'),
    provider: asCreated.provider ?? reader.matching('provider', SLUG, SLUG_RULE) ?? 'runbook',
    ...(originOf(asCreated, reader) ? { origin: 'terminal' as const } : {}),
    ...(asCreated.isolation ? { isolation: asCreated.isolation } : {}),
    plan_sha256: reader.text('plan_sha256'),
    approved_by: readApprover(reader, events),
    diff: readDiff(reader, events),
    tests: readTests(reader),
    failed_tests: readFailedTests(reader, events),
    trail: events,
    ...(state === trailState ? {} : { byHand: 'abandoned' }),
  }
  const problems = [...reader.problems, ...sealProblems(text, trail, file)]
  return { value: problems.some(isBreaking) ? null : value, problems }
}

type CreatedFields = Partial<
  Pick<Session, 'id' | 'type' | 'started_at' | 'provider' | 'origin' | 'isolation'>
>

/**
 * Returns the fields in the audit line that created the session, which no edit of the frontmatter changes; a
 * different field is a problem. Empty if the trail begins with another line.
 */
function readCreatedFields(reader: FieldReader, first: FileLine | undefined): CreatedFields {
  if (first?.event !== 'session_created') return {}
  const { type, provider, session_id } = first.fields
  const created: CreatedFields = { started_at: first.time }
  if (typeof session_id === 'string' && UUID.test(session_id)) created.id = session_id
  if (typeof type === 'string' && isSessionType(type)) created.type = type
  if (typeof provider === 'string' && SLUG.test(provider)) created.provider = provider
  if (first.fields.origin === 'terminal') created.origin = 'terminal'
  if (first.fields.isolation === 'worktree') created.isolation = 'worktree'
  const comparisons: [key: string, text: string | null, createdAs: string | undefined][] = [
    ['id', reader.text('id'), created.id],
    ['session_type', reader.text('session_type'), created.type],
    ['started_at', reader.time('started_at'), created.started_at],
    ['provider', reader.text('provider'), created.provider],
    ['origin', reader.text('origin'), created.origin ?? 'service'],
  ]
  for (const [key, text, createdAs] of comparisons) {
    if (text !== null && createdAs !== undefined && text !== createdAs)
      reportHandEdit(reader, key, text, createdAs)
  }
  return created
}

/** Whether a person runs the agent themselves. A session that the service created says so in its trail alone. */
function originOf(created: CreatedFields, reader: FieldReader): boolean {
  return created.id === undefined
    ? reader.text('origin') === 'terminal'
    : created.origin === 'terminal'
}

/** The trail decides; a file without the key is an older one. */
function readApprover(reader: FieldReader, trail: readonly TrailLine[]): string | null {
  const { by } = approverIn(standingApproval(trail)?.fields ?? {})
  const text = reader.text('approved_by')
  if (text !== null && text !== by) reportHandEdit(reader, 'approved_by', text, by ?? 'empty')
  return by
}

function reportHandEdit(reader: FieldReader, key: string, text: string, recorded: string): void {
  const message = `${key}: ${text} was written by hand and is ignored: according to the audit trail it is ${recorded}`
  reader.problem(key, 'field_by_hand', message)
}

function readType(reader: FieldReader): Session['type'] {
  const type = reader.text('session_type')
  if (type !== null && isSessionType(type)) return type
  if (type !== null)
    reader.problem('session_type', 'wrong_type', `session_type: ${type} is not a session type`)
  return 'implementing'
}

function readState(state: string | null, reader: FieldReader): Session['state'] {
  if (isSessionState(state)) return state
  if (state !== null) {
    reader.problem(
      'state',
      'unknown_state',
      `state: ${state} is not one of ${SESSION_STATES.join(', ')}`,
    )
  }
  return 'abandoned'
}

/** Returns a stable UUID for a session file without one. */
export function derivedId({ case_id, number }: Pick<SessionOrigin, 'case_id' | 'number'>): string {
  const hex = hash('sha256', `${case_id}/sessions/${number}`)
  const variant = ((Number.parseInt(hex[16]!, 16) & 3) | 8).toString(16)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

/** Checks the seal: the last line of an ended session, with the hash of every byte before it. */
function sealProblems(text: string, trail: TrailPart | null, file: string): Problem[] {
  const message = trail && brokenSeal(text, trail)
  return message ? [{ code: 'session_changed', file, line: null, message }] : []
}

/** Returns what is wrong with the seal; null if it is intact, or if the session needs none yet. */
function brokenSeal(text: string, trail: TrailPart): string | null {
  const sealed = trail.lines.find((each) => each.line.event === 'session_sealed')
  if (!sealed) {
    const state = stateInTrail(eventsOfLines(trail.lines.map((each) => each.line)))
    const ended = state !== null && isFinalState(state, false)
    return ended ? 'the seal of this ended session is missing' : null
  }
  if (text.slice(sealed.next).trim() !== closingOf(text, trail)) {
    return 'text was added after the seal of this ended session'
  }
  const { sha256: sealedHash }: Record<string, unknown> = sealed.line.fields
  return sha256(text.slice(0, sealed.start)) === sealedHash
    ? null
    : 'this ended session was changed after it was sealed: the bytes no longer have the sealed hash'
}

export function sha256(text: string): string {
  return hash('sha256', text)
}
