import { counted } from './amounts.ts'
import type { CaseState, SessionType } from './case-state.ts'
import type { Comment, CommentChange } from './comment.ts'
import type { FailedTest } from './failed-test.ts'
import type { Proof } from './proof.ts'
import {
  hasEnded,
  isFinalState,
  nextState,
  type SessionState,
  type Trigger,
} from './session-state.ts'
import {
  definedLine,
  type Fields,
  type NewFileLine,
  stateInTrail,
  type TrailLine,
} from './trail.ts'
import { numbered } from './trail-lines.ts'

export interface FileChange {
  file: string
  additions: number
  deletions: number
}

/** `file` is the file with most changed lines; the counts are totals. `files` lists all files if there are several. */
export interface Diff extends FileChange {
  files?: FileChange[]
}

/** The diff of a run that changed no file. */
export const NO_CHANGE: Diff = { file: '', additions: 0, deletions: 0 }

export interface TestCounts {
  run: number
  passed: number
  failed: number
  /** How many of the passed tests passed on a retry; missing if none. */
  flaky?: number
}

/** `1 of 3 tests failed` */
export function failedCount({ run, failed }: TestCounts): string {
  return `${failed} of ${counted(run, 'test')} failed`
}

export interface Candidate {
  artifact: string
  note: string
}

/** The frontmatter and audit trail of `sessions/<n>.md`; its sections are `SessionTexts`. */
export interface Session {
  id: string
  number: number
  case_id: string
  case_title: string
  type: SessionType
  state: SessionState
  started_at: string
  completed_at: string | null
  provider: string
  /** `terminal`: a person runs the agent themselves, and its hooks report to the service. */
  origin?: 'terminal'
  /** `worktree`: it works in a separate git worktree. */
  isolation?: 'worktree'
  plan_sha256: string | null
  /** Who approved the plan, as the audit trail says. */
  approved_by: string | null
  diff: Diff | null
  tests: TestCounts | null
  failed_tests: FailedTest[]
  trail: TrailLine[]
  /** Set if a person wrote `state: abandoned` into the file; the service has yet to carry it out. */
  byHand?: 'abandoned'
}

export interface SessionTexts {
  hypothesis: string
  plan: string
  output: string
  /** The beginning of the diff; empty if the file has none. */
  changes: string
  candidates: Candidate[]
  comments: Comment[]
}

/** Whether it runs in a worktree that the service makes for it, as the line that created it says. */
export function isIsolated({ trail }: Pick<Session, 'trail'>): boolean {
  const fields: Readonly<Record<string, unknown>> = trail[0]?.fields ?? {}
  return trail[0]?.event === 'session_created' && fields.isolation === 'worktree'
}

/** Who works in a session, such as `claude in a terminal`. */
export function providerText({
  provider,
  origin,
}: {
  provider: string
  origin?: string | undefined
}): string {
  if (origin !== 'terminal') return provider
  return `${provider === 'other' ? 'an agent' : provider} in a terminal`
}

/** The frontmatter keys of a session, in file order. */
export const SESSION_KEYS = [
  'id',
  'number',
  'case_id',
  'case_title',
  'session_type',
  'state',
  'started_at',
  'completed_at',
  'provider',
  'plan_sha256',
  'approved_by',
  'diff',
  'tests',
] as const

/** The fields that only the service sets, together with audit lines. */
export type ServiceFields = Pick<
  Session,
  'state' | 'completed_at' | 'plan_sha256' | 'approved_by' | 'diff' | 'tests' | 'failed_tests'
>

export type SessionFields = Partial<ServiceFields>

export function serviceFields(session: Session): ServiceFields {
  const { state, completed_at, plan_sha256, approved_by, diff, tests, failed_tests } = session
  return { state, completed_at, plan_sha256, approved_by, diff, tests, failed_tests }
}

/** Sections that are written as a whole. */
export type WrittenTexts = Partial<Omit<SessionTexts, 'comments'>>

/** A change of a session file. Only the given parts change; `lines` are appended to the audit trail. */
export interface SessionEdit {
  fields?: SessionFields
  texts?: WrittenTexts
  comments?: CommentChange[]
  lines?: TrailLine[]
  /** Append `session_sealed` with the hash of all bytes before it. */
  seal?: { time: string }
}

export interface Move {
  trigger: Trigger
  now: string
  /** The fields of the line of this act, besides those that every move has. */
  act?: Fields
  /** Audit lines before and after it. */
  before?: NewFileLine[]
  after?: NewFileLine[]
  fields?: SessionFields
  texts?: WrittenTexts
  comments?: CommentChange[]
  reason?: string
  /** The state of the case, recorded with a failure: a different state later shows that somebody has reacted. */
  caseState?: CaseState
}

/**
 * Returns the edit for one state change of a session: its audit lines, frontmatter, completion time, and the seal if
 * the change ends the session.
 */
export function sessionMove(session: Session, move: Move): SessionEdit {
  const state = nextState(session.state, move.trigger)
  const over = hasEnded(state)
  // a file that a person made has no line that says them
  const isUnsaid = stateInTrail(session.trail) === null
  const line = definedLine(ACTS[move.trigger], {
    ...(isUnsaid ? { provider: session.provider, from: session.state } : {}),
    ...move.act,
    reason: move.reason,
    case_state: state === 'failed' ? move.caseState : undefined,
    state,
  })
  const lines = [...(move.before ?? []), line, ...(move.after ?? [])]
  return {
    fields: {
      ...move.fields,
      state,
      ...(over ? { completed_at: session.completed_at ?? move.now } : {}),
    },
    ...(move.texts ? { texts: move.texts } : {}),
    ...(move.comments && move.comments.length > 0 ? { comments: move.comments } : {}),
    lines: numbered(session.trail, lines, move.now),
    ...(isFinalState(state, false) ? { seal: { time: move.now } } : {}),
  }
}

/** What the audit trail calls the act that causes a new state. */
const ACTS: Record<Trigger, string> = {
  context_loaded: 'context_loaded',
  planned: 'plan_written',
  stated: 'plan_written',
  approve: 'plan_approved',
  revise: 'plan_sent_back',
  leave_line: 'approval_taken_back',
  start: 'session_started',
  finish: 'session_completed',
  fail: 'session_failed',
  abandon: 'session_abandoned',
}

export function isSealed(session: Pick<Session, 'trail'>): boolean {
  return session.trail.some((line) => line.event === 'session_sealed')
}

/** Whether the session must not change any more: it is sealed, or its state is final. */
export function isFinal(session: Session, proofs: readonly Proof[]): boolean {
  return isSealed(session) || isFinalState(session.state, hasProof(session, proofs))
}

/** Whether a proof file names the session. */
export function hasProof(session: Session, proofs: readonly Proof[]): boolean {
  return proofs.some((proof) => proof.session_id === session.id)
}

/** The maximum size of a plan, and of a hypothesis. */
export const MAX_PLAN_BYTES = 256 * 1024
