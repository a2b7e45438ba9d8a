import { AppError } from './app-error.ts'
import { type CaseFolder, type Edit, sessionOf } from './case-folder.ts'
import { type SessionMilestone, type SessionType, stateAfter } from './case-state.ts'
import { hasEnded, type Session, sessionMove } from './session.ts'
import { moved } from './session-state.ts'
import { lastOf, type NewTrailLine, numbered } from './trail.ts'

/** The move of the case that a session's milestone brings; empty where the case stays. */
export function caseMove(
  folder: CaseFolder,
  milestone: SessionMilestone,
  type: SessionType,
): Edit[] {
  const { state } = folder.case
  const next = stateAfter(milestone, type, state)
  if (next === state) return []
  const isHeld = folder.ignored.some(({ kind }) => kind === 'state')
  // the operator must see what was written there: no move of a session takes it away
  return [
    isHeld
      ? { file: 'ignored-state', state: next }
      : { file: 'case', edit: { fields: { state: next } } },
  ]
}

export interface NewSession {
  id: string
  number: number
  type: SessionType
  provider: string
  note?: string | undefined
}

export function createSession(folder: CaseFolder, wanted: NewSession, now: string): Edit[] {
  const { note, ...named } = wanted
  const line: NewTrailLine = {
    event: 'session_created',
    fields: {
      type: wanted.type,
      provider: wanted.provider,
      ...(note ? { note } : {}),
      // so that a changed frontmatter makes no other session of it
      session_id: wanted.id,
    },
  }
  const session: Session = {
    ...named,
    case_id: folder.case.id,
    case_title: folder.case.title,
    state: 'created',
    started_at: now,
    completed_at: null,
    plan_sha256: null,
    diff: null,
    tests: null,
    failed_tests: [],
    trail: numbered([], [line], now),
  }
  return [{ file: 'new-session', session }, ...caseMove(folder, 'created', wanted.type)]
}

/** The session, if it may still change; an ended one is sealed (422). */
export function liveSession(folder: CaseFolder, id: string): Session {
  const session = sessionOf(folder, id)
  if (!hasEnded(session, folder.proofs)) return session
  throw new AppError(
    'session_ended',
    `Session ${session.number} has ended (${session.state}) and is sealed. Create a new session on the case to go on.`,
  )
}

/** The hashes are of the texts, as the trail keeps them. */
export interface PlanEdit {
  plan: string
  sha256: string
  hypothesis?: string | undefined
  hypothesis_sha256?: string | undefined
}

/** The operator's own words in place of the plan, before approval. */
export function editPlan(folder: CaseFolder, id: string, edit: PlanEdit, now: string): Edit[] {
  const session = liveSession(folder, id)
  if (session.state !== 'plan_ready') {
    throw new AppError(
      'wrong_state',
      `The plan can be edited while it awaits approval; the session is ${session.state}.`,
    )
  }
  const { sha256, hypothesis_sha256 } = edit
  const line = {
    event: 'plan_edited',
    fields: { by: 'request', sha256, ...(hypothesis_sha256 ? { hypothesis_sha256 } : {}) },
  }
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
 * Approves the plan that has hash `sha256`, which must be the approved one. The trail keeps its text:
 * the section may be edited later on.
 */
export function approve(
  folder: CaseFolder,
  id: string,
  plan: { sha256: string; approved: string; text: string },
  now: string,
): Edit[] {
  const session = liveSession(folder, id)
  moved(session.state, 'approve')
  if (plan.approved !== plan.sha256) {
    throw new AppError(
      'plan_changed',
      `The plan is not the one that you approve: its plan_sha256 is ${plan.sha256} now, and ${plan.approved} was to be approved. Read it again (GET), then approve that.`,
      { extra: { plan_sha256: plan.sha256 } },
    )
  }
  const edit = sessionMove(session, {
    trigger: 'approve',
    now,
    before: [{ event: 'plan_approved', fields: { plan_sha256: plan.sha256, plan: plan.text } }],
    fields: { plan_sha256: plan.sha256 },
  })
  return [
    { file: 'session', number: session.number, edit },
    ...caseMove(folder, 'approved', session.type),
  ]
}

/**
 * Refuses a plan that stands in the file since the programs of a run could write it, unless the approval names it
 * by its hash: that an operator has read it is then known.
 */
export function mustBeRead({ trail }: Session, sha256: string, wasTouched: boolean): void {
  const own = trail.findLast(
    ({ event, fields }) =>
      event === 'plan_written' || (event === 'plan_edited' && fields.by === 'request'),
  )
  const isByHand = own !== undefined && own.fields.sha256 !== sha256
  const inRun = lastOf(trail, 'plan_edited')?.fields.in_run === true
  if (!isByHand || !(wasTouched || inRun)) return
  throw new AppError(
    'plan_changed',
    'The plan was changed in its file while another session ran whose programs can write there. Read it, then approve it with its plan_sha256.',
    { extra: { plan_sha256: sha256 } },
  )
}

export function revise(folder: CaseFolder, id: string, note: string, now: string): Edit[] {
  const session = liveSession(folder, id)
  const edit = sessionMove(session, { trigger: 'revise', now, reason: note })
  return [{ file: 'session', number: session.number, edit }]
}

export function abandon(
  folder: CaseFolder,
  id: string,
  reason: string | undefined,
  now: string,
): Edit[] {
  const session = liveSession(folder, id)
  const why = reason === undefined ? {} : { reason }
  const edit = sessionMove(session, { trigger: 'abandon', now, ...why })
  return [{ file: 'session', number: session.number, edit }]
}
