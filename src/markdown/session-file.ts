import { hash } from 'node:crypto'
import { isSessionType } from '../model/case-state.ts'
import { isBreaking, type Problem } from '../model/problem.ts'
import { isSealed, type Session } from '../model/session.ts'
import { isEnded, isSessionState, SESSION_STATES } from '../model/session-state.ts'
import { stateInTrail, type TrailLine, trueLines } from '../model/trail.ts'
import { SLUG, SLUG_RULE, UUID } from '../model/words.ts'
import { type FieldReader, fieldReader, readRecord } from './fields.ts'
import { diffOf, failedTestsOf, testsOf } from './session-evidence.ts'
import { plainFrontmatter } from './session-plain.ts'
import { readTrail, type TrailPart } from './trail.ts'

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
  const own = readRecord(text, file)
  const bare = own.ok && own.document.fields === null
  const read = bare ? readRecord(plainFrontmatter(text), file) : own
  if (!read.ok) return { value: null, problems: [read.problem] }
  const reader = fieldReader(read.document, file)
  const all = trail?.lines.map((each) => each.line) ?? []
  const lines = trueLines(all)
  const said = reader.text('state')
  const written = stateIn(said, reader)
  if (said === null && stateInTrail(lines) === null) {
    const message = `no state is written, so the session counts as abandoned: add a line state: with one of ${SESSION_STATES.join(', ')}`
    reader.problems.push({ code: 'missing_state', file, line: null, message })
  }
  const journal = stateInTrail(lines) ?? written
  // a state set by hand is ignored, except `abandoned`, which only removes permissions
  const open = !isEnded(journal, false) && !isSealed({ trail: lines })
  const byHand = said === 'abandoned'
  const state = byHand && open ? 'abandoned' : journal
  if (reader.has('state') && written !== journal) {
    const why =
      state === journal
        ? `state: ${said ?? written} was written by hand; the session is ${journal} (only a request changes the state)`
        : `state: ${written} was written by hand while the session was ${journal}: the service abandons the session and stops its run`
    reader.problem('state', 'state_by_hand', why)
  }
  if (lines.length < all.length && !isSealed({ trail: lines })) {
    const message =
      'lines of the audit trail have numbers out of order: the service ignores them, and the next write removes them'
    reader.problems.push({ code: 'trail_changed', file, line: null, message })
  }
  reader.placed('case_id', origin.case_id)
  reader.placed('number', String(origin.number))
  const asCreated = createdFields(reader, lines[0])
  const value: Session = {
    id: asCreated.id ?? reader.shaped('id', UUID, 'a UUID in lower case') ?? derivedId(origin),
    number: origin.number,
    case_id: origin.case_id,
    case_title: reader.text('case_title') ?? origin.case_title,
    type: asCreated.type ?? typeOf(reader),
    state,
    started_at: asCreated.started_at ?? reader.time('started_at') ?? origin.created_at,
    completed_at: reader.time('completed_at'),
    provider: asCreated.provider ?? reader.shaped('provider', SLUG, SLUG_RULE) ?? 'runbook',
    plan_sha256: reader.text('plan_sha256'),
    diff: diffOf(reader),
    tests: testsOf(reader),
    failed_tests: failedTestsOf(reader),
    trail: lines,
    ...(state === journal ? {} : { byHand: 'abandoned' }),
  }
  const problems = [...reader.problems, ...sealProblems(text, trail, file)]
  return { value: problems.some(isBreaking) ? null : value, problems }
}

type CreatedFields = Partial<Pick<Session, 'id' | 'type' | 'started_at' | 'provider'>>

/**
 * Returns the fields in the audit line that created the session, which no edit of the frontmatter changes; a
 * different field is a problem. Empty if the trail begins with another line.
 */
function createdFields(reader: FieldReader, first: TrailLine | undefined): CreatedFields {
  if (first?.event !== 'session_created') return {}
  const { type, provider, session_id } = first.fields
  const made: CreatedFields = { started_at: first.time }
  if (typeof session_id === 'string' && UUID.test(session_id)) made.id = session_id
  if (typeof type === 'string' && isSessionType(type)) made.type = type
  if (typeof provider === 'string' && SLUG.test(provider)) made.provider = provider
  const written: [key: string, text: string | null, is: string | undefined][] = [
    ['id', reader.text('id'), made.id],
    ['session_type', reader.text('session_type'), made.type],
    ['started_at', reader.time('started_at'), made.started_at],
    ['provider', reader.text('provider'), made.provider],
  ]
  for (const [key, text, is] of written) {
    if (text !== null && is !== undefined && text !== is) byHand(reader, key, text, is)
  }
  return made
}

function byHand(reader: FieldReader, key: string, text: string, is: string): void {
  const message = `${key}: ${text} was written by hand and is ignored: according to the audit trail the session was created with ${is}`
  reader.problem(key, 'field_by_hand', message)
}

function typeOf(reader: FieldReader): Session['type'] {
  const type = reader.text('session_type')
  if (type !== null && isSessionType(type)) return type
  if (type !== null)
    reader.problem('session_type', 'wrong_type', `session_type: ${type} is not a session type`)
  return 'implementing'
}

function stateIn(state: string | null, reader: FieldReader): Session['state'] {
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

/** Checks the seal: the last line, with the hash of every byte before it. */
function sealProblems(text: string, trail: TrailPart | null, file: string): Problem[] {
  const message = trail && brokenSeal(text, trail)
  return message ? [{ code: 'session_changed', file, line: null, message }] : []
}

function brokenSeal(text: string, trail: TrailPart): string | null {
  const sealed = trail.lines.find((each) => each.line.event === 'session_sealed')
  if (!sealed) {
    const state = stateInTrail(trail.lines.map((each) => each.line))
    const ended = state !== null && isEnded(state, false)
    return ended ? 'the seal of this ended session is missing' : null
  }
  if (text.slice(sealed.next).trim() !== '') {
    return 'text was added after the seal of this ended session'
  }
  const { sha256: known }: Record<string, unknown> = sealed.line.fields
  return sha256(text.slice(0, sealed.start)) === known
    ? null
    : 'this ended session was changed after it was sealed: the bytes no longer have the sealed hash'
}

export function sha256(text: string): string {
  return hash('sha256', text)
}
