import { caseHistory } from '../../http/case-history.ts'
import { caseFacts, planObjection, sessionFacts } from '../../http/case-status.ts'
import { etagOf } from '../../http/etag.ts'
import { jsonBody } from '../../http/json-body.ts'
import { serializeSession } from '../../http/serializers.ts'
import { withShownFront } from '../../markdown/plan-scope.ts'
import type { PlanReading } from '../../markdown/plan-steps.ts'
import { type CaseContents, gateOf } from '../../model/case-contents.ts'
import { statusOf } from '../../model/case-status.ts'
import { type CommentView, isDraft, placedBelow } from '../../model/comment.ts'
import type { Gate } from '../../model/gate.ts'
import type { Status } from '../../model/next-act.ts'
import { isFinal, type Session } from '../../model/session.ts'
import { isActive } from '../../model/session-state.ts'
import type { TerminalFacts } from '../../model/session-status.ts'
import type { StepRow } from '../../model/step-rows.ts'
import { paintTexts } from '../../rendering/diff/decorate.ts'
import type { DiffLayout, ShownDiff } from '../../rendering/diff/shown-diff.ts'
import { diffTexts, type TextDiff } from '../../rendering/diff/texts.ts'
import { renderEverything, renderMarkdown } from '../../rendering/markdown/markdown.ts'
import type { Heading, MarkedStep, Slot } from '../../rendering/markdown/options.ts'
import { approvalView, type Busy } from '../../sessions/approval-view.ts'
import { type CandidateRow, loadCandidates } from '../../sessions/candidates.ts'
import type { SessionWalls } from '../../sessions/expected-walls.ts'
import {
  type KeptRevision,
  revisionsOf,
  revisionText,
  savedAt,
} from '../../sessions/plan-history.ts'
import type { ExecutionSummary } from '../../sessions/start-checks.ts'
import type { FolderState } from '../../sessions/uncommitted.ts'
import type { TrustedSettings } from '../../settings/trusted-settings.ts'
import type { PlanTexts } from '../../state/plans.ts'
import { type WorktreeActs, worktreeActs } from '../../worktrees/worktree-texts.ts'
import type { PageDeps } from '../deps.ts'
import { loadProofRows, type ProofRow } from '../proof/data.ts'
import { loadSessionReports, type Report } from '../proof/report-data.ts'
import { memoryPage } from '../shell/addresses.ts'
import { showChanges } from './changed-files.tsx'
import { inlineComments } from './inline-comments.ts'
import { type OutputDeps, type StepOutput, sessionOutput } from './session-output.ts'

export const PLAN_VIEWS = ['rendered', 'source', 'diff'] as const
export type PlanViewName = (typeof PLAN_VIEWS)[number]

/** What the address asks for. */
export interface SessionQuery {
  view: PlanViewName
  /** The hash, or its beginning, of the revision that the plan is compared with; null: the one before. */
  against: string | null
  diff: DiffLayout
  /** The page of the audit trail, from 1; null for its newest lines. */
  trailPage: number | null
  /** False for a page that has the text of the output already. */
  withOutput: boolean
}

export type SessionJson = Awaited<ReturnType<typeof serializeSession>>

/** Everything that a session's page shows, read once. */
export interface SessionPageData extends RenderedPlan {
  contents: CaseContents
  session: Session
  json: SessionJson
  /** Of the JSON of the session in the API: edits are sent with it as If-Match. */
  etag: string
  query: SessionQuery
  ended: boolean
  /** Its file can't be relied on: nothing in it can be approved or changed. */
  isBroken: boolean
  status: Status
  /** It plans or executes, on this machine. */
  isRunning: boolean
  /** What its plan was made from, if no agent made it. */
  planSource: string
  /** Null for a session whose agent the service starts. */
  terminal: TerminalFacts | null
  plan: PlanReading
  summary: ExecutionSummary
  markedSteps: readonly MarkedStep[]
  /** Why it can't be planned again, here or in a new session; null if it can, or if that doesn't come next. */
  planObjection: string | null
  revisions: KeptRevision[]
  revisionRows: { rows: RevisionRow[]; before: number }
  comparison: PlanComparison | null
  rows: readonly StepRow[]
  output: StepOutput[]
  changes: ShownDiff | null
  candidates: CandidateRow[]
  reports: Report[]
  proofs: ProofRow[]
  gate: Gate
  /** The body of casefile.md: instructions for agents. */
  instructions: string
  /** Oldest first. */
  comments: readonly CommentView[]
  /** How many comments are not sent yet. */
  drafts: number
  /** Of the folder where the plan would run; null once it does not wait for approval. */
  folderState: FolderState | { reason: string } | null
  /** What would hold its programs; null once it does not wait for approval, or where that is not known. */
  walls: SessionWalls | null
  /** Who works in that folder now; null if it is free, or once the plan does not wait for approval. */
  occupant: Busy | null
  /** What became of its worktree; null without one. */
  worktreeActs: WorktreeActs | null
}

/** Why the console cannot approve the plan, if casefile.md asks for signed approvals. */
function signingNeeded(
  { signApprovals }: TrustedSettings,
  { case_id, number }: Session,
): string | null {
  if (!signApprovals) return null
  return `This workspace wants signed approvals. Approve in a terminal, which signs with your SSH key: casefile approve ${case_id.slice(0, 8)} ${number}`
}

export async function loadSessionPage(
  needs: Pick<PageDeps, 'service' | 'assets'> & OutputDeps,
  contents: CaseContents,
  session: Session,
  query: SessionQuery,
): Promise<SessionPageData> {
  const { service } = needs
  const json = await serializeSession(service, contents, session)
  const etag = etagOf(jsonBody(json))
  const facts = await sessionFacts(service, contents, session, json)
  const { plan, rows, terminal, settings, planSource, isBroken } = facts
  const waits = session.state === 'plan_ready'
  const conversationFolder = terminal?.conversation?.folder
  const approval = waits
    ? await approvalView(service, contents, session, { settings, conversationFolder })
    : null
  const walls = approval === null || terminal || 'unknown' in approval.walls ? null : approval.walls
  const barred = waits ? (signingNeeded(settings, session) ?? walls?.objection ?? null) : null
  const objection = facts.objection ?? (barred === null ? null : { text: barred, isTrust: false })
  const carried = { ...facts.summary, objection: objection?.text ?? null }
  const status = statusOf(contents, await caseFacts(service, contents), { ...facts, objection })
  const isPlannedNext = waits || session.state === 'complete' || status.next?.act === 'plan_again'
  const present = { plan: json.plan, savedAt: savedAt(service, json) }
  const revisions = revisionsOf(session, present)
  const base = memoryPage(session.case_id, '')
  const comments = json.comments.list
  const slots = inlineComments(comments).map((comment) => ({
    name: comment.id,
    line: placedBelow(comment)!,
  }))
  const markedSteps = plan.steps.map(({ script: _, ...step }, index) => ({
    ...step,
    isForAgent: !carried.willRun(plan.steps[index]!),
  }))
  return {
    comments,
    drafts: comments.filter(isDraft).length,
    instructions: settings.instructions,
    folderState: approval?.folder ?? null,
    walls,
    worktreeActs:
      json.worktree &&
      worktreeActs(await caseHistory(service, contents), session.number, json.worktree.branch),
    occupant: approval?.busy ?? null,
    contents,
    session,
    json,
    etag,
    query,
    plan,
    planSource,
    rows,
    terminal,
    revisions,
    summary: carried,
    planObjection: isPlannedNext ? await planObjection(service, contents, facts, false) : null,
    ended: isFinal(session, contents.proofs),
    isBroken,
    status,
    isRunning: isActive(session.state) && !isForeign(contents, session),
    markedSteps,
    ...(await renderPlan({
      json,
      steps: markedSteps.filter(({ isEntry }) => !isEntry),
      view: query.view,
      base,
      slots,
    })),
    revisionRows: newestRevisions(service.plans, revisions),
    comparison:
      query.view === 'diff'
        ? await compareWith(service.plans, { plan: json.plan, revisions, against: query.against })
        : null,
    output: await sessionOutput(needs, session, query.withOutput),
    changes: await showChanges(service, session, json.candidates, query.diff),
    candidates: await loadCandidates(service, contents, session, json.candidates),
    reports: await loadSessionReports(service.layout, contents, session, json.candidates),
    gate: gateOf(contents),
    proofs: await loadProofRows(
      service,
      contents,
      contents.proofs.filter(({ session_id }) => session_id === session.id),
    ),
  }
}

/** It was running on another machine. */
function isForeign({ problems }: CaseContents, { number }: Session): boolean {
  return problems.some(
    ({ code, file }) => code === 'foreign_session' && file === `sessions/${number}.md`,
  )
}

export interface RenderedPlan {
  hypothesisHtml: string | null
  planHtml: string | null
  /** The headings of the plan, if it is shown rendered. */
  planHeadings: Heading[]
  /** Words of the plan that its HTML does not show. */
  planHidden: string[]
}

interface PlanToRender {
  json: { hypothesis: string; plan: string }
  steps: readonly MarkedStep[]
  view: PlanViewName
  base: string
  /** Where comments are shown. */
  slots: readonly Slot[]
}

/**
 * Hypothesis and plan as safe HTML; null if they are too complex, or not asked for. The ids in it have prefixes that
 * no id of the page has: a heading of the text must not be mistaken for a part of the page.
 */
async function renderPlan({
  json: { hypothesis, plan },
  steps,
  view,
  base,
  slots,
}: PlanToRender): Promise<RenderedPlan> {
  const options = (idPrefix: string) => ({ base, headingShift: 2, idPrefix })
  const rendered =
    view === 'rendered' && plan !== ''
      ? await renderEverything(withShownFront(plan), {
          ...options('text-plan-'),
          steps,
          lines: true,
          slots,
        })
      : null
  return {
    hypothesisHtml:
      hypothesis === '' ? null : await renderMarkdown(hypothesis, options('text-hypothesis-')),
    planHtml: rendered?.html ?? null,
    planHeadings: rendered?.headings ?? [],
    planHidden: rendered?.hidden ?? [],
  }
}

interface PlanComparison {
  with: KeptRevision
  /** Whether the text of that revision is on this machine. */
  isKnown: boolean
  /** Null if the two are too different to compare, or the other text is not known. */
  diff: TextDiff | null
}

interface ComparisonOptions {
  plan: string
  revisions: readonly KeptRevision[]
  /** The hash of a revision, or its beginning; null for the one before. */
  against: string | null
}

/** What changed in the plan since another revision; null if there is none. */
async function compareWith(
  texts: Pick<PlanTexts, 'read'>,
  { plan, revisions, against }: ComparisonOptions,
): Promise<PlanComparison | null> {
  const current = revisions.findIndex((revision) => revision.current)
  const before = revisions[(current < 0 ? revisions.length : current) - 1]
  const named =
    against === null
      ? before
      : revisions.find((each) => !each.current && each.plan_sha256.startsWith(against))
  const other = named ?? before
  if (!other) return null
  const text = await revisionText(texts, other)
  const diff = text === null ? null : diffTexts(text, plan)
  if (text !== null && diff) {
    await paintTexts(diff.hunks, {
      before: text,
      after: plan,
      language: 'markdown',
    })
  }
  return { with: other, isKnown: text !== null, diff }
}

interface RevisionRow extends KeptRevision {
  /** Whether its text is here to be compared, as far as can be said without reading it. */
  isKept: boolean
}

const MAX_REVISIONS = 100

/** The newest revisions, oldest first, and how many were before them. */
function newestRevisions(
  texts: Pick<PlanTexts, 'has'>,
  revisions: readonly KeptRevision[],
): { rows: RevisionRow[]; before: number } {
  const newest = revisions.slice(-MAX_REVISIONS)
  const rows = newest.map((revision) => {
    const isKept = revision.text !== null || texts.has(revision.plan_sha256)
    return { ...revision, isKept }
  })
  return { rows, before: revisions.length - newest.length }
}
