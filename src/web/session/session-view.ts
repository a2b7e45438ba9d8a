import { etagOf } from '../../http/etag.ts'
import { jsonBody } from '../../http/json-body.ts'
import { serializeSession } from '../../http/serializers.ts'
import { type PlanReading, readPlan } from '../../markdown/plan-steps.ts'
import type { CaseFolder } from '../../model/case-folder.ts'
import { isBreaking } from '../../model/problem.ts'
import type { Proof } from '../../model/proof.ts'
import { hasEnded, type Session } from '../../model/session.ts'
import type { Patch } from '../../rendering/diff/patch.ts'
import { startObjection } from '../../sessions/objections.ts'
import { type KeptRevision, revisionsOf, savedAt } from '../../sessions/plan-history.ts'
import { type Undertaking, undertaking } from '../../sessions/undertaking.ts'
import type { PageNeeds } from '../needs.ts'
import { memoryPage } from '../shell/addresses.ts'
import { type CandidateRow, candidateRows } from './candidate-rows.ts'
import { mayPlanAgain } from './plan-again.tsx'
import { comparison, type PlanComparison } from './plan-comparison.ts'
import { type RenderedPlan, renderedPlan } from './plan-html.ts'
import { revisionRows } from './revision-rows.ts'
import { changesOf } from './session-changes.ts'
import { type OutputNeeds, type StepOutput, sessionOutput } from './session-output.ts'
import { type StepRow, stepRows } from './step-rows.ts'
import { type Turn, turnOf } from './turn.ts'

export const PLAN_VIEWS = ['rendered', 'source', 'diff'] as const
export type PlanViewName = (typeof PLAN_VIEWS)[number]

/** What the address asks for. */
export interface SessionQuery {
  view: PlanViewName
  /** The hash, or its beginning, of the revision that the plan is compared with; null: the one before. */
  against: string | null
  /** Which page of the audit trail, from 1; null for its newest lines. */
  trailPage: number | null
  /** Without the text of the output: what a page asks that has it already. */
  withOutput: boolean
}

export type SessionJson = Awaited<ReturnType<typeof serializeSession>>

/** All that a session's page shows. */
export interface SessionView extends RenderedPlan {
  folder: CaseFolder
  session: Session
  json: SessionJson
  /** Of the session as the API gives it: what an edit is held to. */
  etag: string
  query: SessionQuery
  ended: boolean
  /** Its file says what must not be believed: nothing of it can be approved or changed. */
  isBroken: boolean
  turn: Turn
  plan: PlanReading
  undertaking: Undertaking
  /** Why planning again, here or in a new session, would be refused; null if it would not, or does not come next. */
  planObjection: string | null
  revisions: KeptRevision[]
  revisionRows: Awaited<ReturnType<typeof revisionRows>>
  comparison: PlanComparison | null
  rows: StepRow[]
  output: StepOutput[]
  changes: Patch | null
  candidates: CandidateRow[]
  proofs: Proof[]
}

export async function sessionView(
  needs: PageNeeds & OutputNeeds,
  folder: CaseFolder,
  session: Session,
  query: SessionQuery,
): Promise<SessionView> {
  const { service } = needs
  const json = await serializeSession(service, folder, session)
  const etag = etagOf(jsonBody(json))
  const plan = await readPlan(json.plan)
  const settings = await service.settings()
  const place = { root: service.layout.root, workdir: folder.case.workdir, settings }
  const waits = session.state === 'plan_ready'
  const objectionTo = (isRunbook: boolean) => startObjection(session.provider, place, { isRunbook })
  const executed = undertaking(session.provider, plan, settings)
  const objection = executed.objection ?? (waits ? await objectionTo(plan.isRunbook) : null)
  const carried = { ...executed, objection }
  const isPlannedNext = waits || mayPlanAgain({ folder, session })
  const rows = stepRows(session, plan, carried.willRun)
  const present = { plan: json.plan, savedAt: savedAt(service, json) }
  const revisions = revisionsOf(session, present)
  const planErrors = waits ? plan.errors.length : 0
  const isBroken = json.problems.some(isBreaking)
  const base = memoryPage(session.case_id, '')
  return {
    ...{ folder, session, json, etag, query, plan, rows, revisions },
    undertaking: carried,
    planObjection: isPlannedNext ? await objectionTo(false) : null,
    ended: hasEnded(session, folder.proofs),
    isBroken,
    turn: turnOf({
      folder,
      session,
      rows,
      planErrors,
      isBroken,
      isBarred: waits && objection !== null,
    }),
    ...(await renderedPlan(json, plan, query.view, base)),
    revisionRows: await revisionRows(service.plans, revisions),
    comparison:
      query.view === 'diff'
        ? await comparison(service.plans, { plan: json.plan, revisions, against: query.against })
        : null,
    output: await sessionOutput(needs, session, query.withOutput),
    changes: await changesOf(service, session, json.candidates),
    candidates: await candidateRows(service, folder, session, json.candidates),
    proofs: folder.proofs.filter(({ session_id }) => session_id === session.id),
  }
}
