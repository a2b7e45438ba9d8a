import { AppError } from './app-error.ts'
import { type CaseContents, type Edit, sessionOf } from './case-contents.ts'
import { type SessionMilestone, type SessionType, stateAfter } from './case-state.ts'
import type { SentNote } from './decide-comments.ts'
import type { EventFields } from './events.ts'
import type { Actor } from './history.ts'
import { isFinal, type Session, sessionMove, type WrittenTexts } from './session.ts'
import { nextState } from './session-state.ts'
import {
  type Fields,
  type LineWith,
  lastOf,
  lineInQueue,
  type NewTrailLine,
  newLine,
} from './trail.ts'
import { numbered } from './trail-lines.ts'

/**
 * Returns the edit that moves the case after a session's milestone; empty if the case keeps its state. The line of the
 * session says it in the history.
 */
export function caseMove(
  contents: CaseContents,
  milestone: SessionMilestone,
  type: SessionType,
): Edit[] {
  const { state } = contents.case
  const next = stateAfter(milestone, type, state)
  if (next === state) return []
  const isIgnored = contents.ignored.some(({ kind }) => kind === 'state')
  // keeps the ignored state in the file, so that the operator sees it
  return [
    isIgnored
      ? { file: 'ignored-state', state: next }
      : { file: 'case', edit: { fields: { state: next } }, acts: [] },
  ]
}

export interface NewSession {
  id: string
  number: number
  type: SessionType
  provider: string
  origin?: 'terminal'
  isolation?: 'worktree'
  /** The number of the session that failed, and is planned again. */
  again?: number | undefined
  /** What the operator says to it. */
  note?: string | undefined
  /** Its plan, if it is created with one: then it waits for approval at once. */
  written?: { plan: string; hypothesis: string; sha256: string } | undefined
}

export function createSession(contents: CaseContents, wanted: NewSession, now: string): Edit[] {
  const { again, note, written, ...named } = wanted
  const line = newLine('session_created', {
    type: wanted.type,
    provider: wanted.provider,
    origin: wanted.origin,
    isolation: wanted.isolation,
    again,
    note: note || undefined,
    // identifies the session even if its frontmatter is changed
    session_id: wanted.id,
  })
  const session: Session = {
    ...named,
    case_id: contents.case.id,
    case_title: contents.case.title,
    state: 'created',
    started_at: now,
    completed_at: null,
    plan_sha256: null,
    approved_by: null,
    diff: null,
    tests: null,
    failed_tests: [],
    trail: numbered([], [line], now),
  }
  if (written) {
    const { sha256, ...texts } = written
    const act = { plan_sha256: sha256, by: 'request' }
    const { fields, lines = [] } = sessionMove(session, { trigger: 'stated', now, act })
    const ready: Session = { ...session, ...fields, trail: [...session.trail, ...lines] }
    const move = caseMove(contents, 'created', wanted.type)
    return [{ file: 'new-session', session: ready, texts }, ...move]
  }
  return [{ file: 'new-session', session }, ...caseMove(contents, 'created', wanted.type)]
}

/** Returns the session if it may still change. Throws `session_ended`. */
export function liveSession(contents: CaseContents, id: string): Session {
  const session = sessionOf(contents, id)
  if (!isFinal(session, contents.proofs)) return session
  throw new AppError(
    'session_ended',
    `Session ${session.number} has ended (${session.state}) and is sealed. To continue, create a new session on the case.`,
  )
}

/** An edited plan. The hashes go into the audit trail. */
export interface PlanEdit {
  plan: string
  sha256: string
  hypothesis?: string | undefined
  hypothesis_sha256?: string | undefined
}

/** Replaces the plan with the operator's text, before approval. */
export function editPlan(contents: CaseContents, id: string, edit: PlanEdit, now: string): Edit[] {
  const session = liveSession(contents, id)
  if (session.state !== 'plan_ready') {
    throw new AppError(
      'wrong_state',
      lineInQueue(session.trail)
        ? 'The plan is approved, and waits in line. Take it out of the line before you edit it (DELETE …/queue, casefile session unqueue <case>).'
        : `The plan can be edited while it awaits approval; the session is ${session.state}.`,
    )
  }
  const { sha256, hypothesis_sha256 } = edit
  const line = newLine('plan_edited', { by: 'request', sha256, hypothesis_sha256 })
  const hypothesis = edit.hypothesis === undefined ? {} : { hypothesis: edit.hypothesis }
  return [
    {
      file: 'session',
      number: session.number,
      edit: {
        texts: { plan: edit.plan, ...hypothesis },
        lines: numbered(session.trail, [line], now),
      },
    },
  ]
}

/**
 * Approves the plan. Throws `plan_changed` if the approved hash is not that of the current plan. With `queued`, the
 * session waits for its folder, and its case moves when it starts.
 */
export function approve(
  contents: CaseContents,
  id: string,
  plan: {
    sha256: string
    approved: string
    by: Actor
    sent: SentNote
    /** The hash of the standing intent that approves it. */
    standing?: string | undefined
  },
  now: string,
  queued?: QueueFields,
): Edit[] {
  const session = liveSession(contents, id)
  nextState(session.state, 'approve')
  if (plan.approved !== plan.sha256) {
    throw new AppError(
      'plan_changed',
      `The plan has changed: its plan_sha256 is now ${plan.sha256}, but you approved ${plan.approved}. Read the plan again (GET), then approve it.`,
      { extra: { plan_sha256: plan.sha256 } },
    )
  }
  const edit = sessionMove(session, {
    trigger: 'approve',
    now,
    act: {
      by: plan.by.who,
      via: plan.by.from,
      plan_sha256: plan.sha256,
      note: plan.sent.note || undefined,
      ...(plan.standing ? { approved_by: 'standing', standing_sha256: plan.standing } : {}),
      ...sentFields(plan.sent),
    },
    fields: { plan_sha256: plan.sha256, approved_by: plan.by.who },
    comments: plan.sent.changes,
    ...(queued ? { after: [queuedLine(queued, plan.sent)] } : {}),
  })
  return [
    { file: 'session', number: session.number, edit },
    ...(queued ? [] : caseMove(contents, 'approved', session.type)),
  ]
}

/** The comments that were sent, as fields of the line of the act. */
function sentFields({ lines: [sent], comments }: SentNote): Fields {
  return sent ? { comments: sent.fields.count, comments_text: comments } : {}
}

type QueueFields = Omit<EventFields<'queued'>, 'comments'>

function queuedLine(fields: QueueFields, { changes }: SentNote): NewTrailLine {
  const comments = changes.flatMap((change) => (change.is === 'marked' ? [change.id] : []))
  return newLine('queued', { ...fields, comments: comments.length > 0 ? comments : undefined })
}

/**
 * Takes the approval of a session back that waits in line and has not started: its plan waits again, and so do the
 * comments that were sent with it. `edited` is the plan in the file, if it is another than the approved one.
 */
export function leaveLine(
  contents: CaseContents,
  id: string,
  { reason, edited }: { reason: string; edited?: { sha256: string; inRun: boolean } | undefined },
  now: string,
): Edit[] {
  const session = liveSession(contents, id)
  const sent = lineInQueue(session.trail)?.fields.comments
  const comments = Array.isArray(sent) ? sent.map(String) : []
  const line = edited && {
    by: 'hand' as const,
    sha256: edited.sha256,
    in_run: edited.inRun || undefined,
  }
  const edit = sessionMove(session, {
    trigger: 'leave_line',
    now,
    reason,
    fields: { plan_sha256: null, approved_by: null },
    before: line ? [newLine('plan_edited', line)] : [],
    comments: (contents.texts?.comments ?? [])
      .filter((comment) => comments.includes(comment.id) && !comment.resolved)
      .map(({ id }) => ({ is: 'marked', id, sent: false })),
  })
  return [{ file: 'session', number: session.number, edit }]
}

/**
 * Throws `plan_changed` if a plan may have been written by programs of another run. An approval that gives the plan's
 * hash does not call this, as the operator has read the plan then.
 */
export function requireReadPlan({ trail }: Session, sha256: string, wasTouched: boolean): void {
  const own = trail.findLast(
    (line) =>
      line.event === 'plan_written' ||
      (line.event === 'plan_edited' && line.fields.by === 'request'),
  ) as LineWith<'plan_written' | 'plan_edited'> | undefined
  const isByHand = own !== undefined && own.fields.sha256 !== sha256
  const inRun = lastOf(trail, 'plan_edited')?.fields.in_run === true
  if (!isByHand || !(wasTouched || inRun)) return
  throw new AppError(
    'plan_changed',
    'The plan was changed in its file while another session ran whose programs could write there. Read it, then approve it with its plan_sha256.',
    { extra: { plan_sha256: sha256 } },
  )
}

/** How a run of the session's provider ended: its planning or its work. */
export interface RunEnd {
  mode: 'plan' | 'work'
  state: keyof typeof END_TRIGGERS
  /** Why, if it did not succeed. */
  reason?: string | undefined
  /** The files of the case that were read, if the session is still to begin its planning. */
  files?: readonly string[] | undefined
  /** Lines about what it made. */
  results?: readonly NewTrailLine[]
  /** Fields of its own line, such as the hash of the plan. */
  made?: Fields
  texts?: WrittenTexts
  evidence?: Partial<Pick<Session, 'diff' | 'tests' | 'failed_tests'>>
}

const END_TRIGGERS = {
  plan_ready: 'planned',
  complete: 'finish',
  failed: 'fail',
  abandoned: 'abandon',
} as const

/** Returns the edit that records the end of a run. */
export function endRun(contents: CaseContents, id: string, end: RunEnd, now: string): Edit {
  const { mode, state, reason, results = [], made, texts, evidence } = end
  const present = sessionOf(contents, id)
  const files = present.state === 'created' ? end.files : undefined
  const session: Session = files ? { ...present, state: 'planning' } : present
  const isWithout = state === 'failed' || state === 'abandoned'
  const edit = sessionMove(session, {
    trigger: END_TRIGGERS[state],
    now,
    caseState: contents.case.state,
    before: [...results],
    act: { files, ...(isWithout ? { mode } : {}), ...made },
    ...(evidence ? { fields: evidence } : {}),
    ...(texts ? { texts } : {}),
    ...(reason === undefined ? {} : { reason }),
  })
  return { file: 'session', number: session.number, edit }
}

export function revise(contents: CaseContents, id: string, sent: SentNote, now: string): Edit[] {
  const session = liveSession(contents, id)
  const edit = sessionMove(session, {
    trigger: 'revise',
    now,
    act: sentFields(sent),
    ...(sent.note === '' ? {} : { reason: sent.note }),
    comments: sent.changes,
  })
  return [{ file: 'session', number: session.number, edit }]
}

export function abandon(
  contents: CaseContents,
  id: string,
  reason: string | undefined,
  now: string,
): Edit[] {
  const session = liveSession(contents, id)
  const why = reason === undefined ? {} : { reason }
  const edit = sessionMove(session, { trigger: 'abandon', now, ...why })
  return [{ file: 'session', number: session.number, edit }]
}
