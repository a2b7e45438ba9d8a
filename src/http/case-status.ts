import type { CaseSetup } from '../init/setup.ts'
import { type PlanReading, readPlan } from '../markdown/plan-steps.ts'
import { AppError } from '../model/app-error.ts'
import { attentionOf } from '../model/attention.ts'
import type { CaseContents } from '../model/case-contents.ts'
import { type CaseFacts, type StartFacts, statusOf } from '../model/case-status.ts'
import type { Status } from '../model/next-act.ts'
import { isBreaking } from '../model/problem.ts'
import type { Session } from '../model/session.ts'
import { hasEnded } from '../model/session-state.ts'
import type { SessionFacts, TerminalFacts } from '../model/session-status.ts'
import { OWN_PROVIDER } from '../model/settings.ts'
import { stepRows } from '../model/step-rows.ts'
import { lastOf } from '../model/trail.ts'
import { isUngated } from '../model/ungated-conversation.ts'
import { PLAN_SOURCES, sourceOfPlan } from '../runners/runbook-plan.ts'
import { type CandidateRow, listCandidates, loadCandidates } from '../sessions/candidates.ts'
import { titleOfProvider } from '../sessions/providers.ts'
import {
  type ExecutionSummary,
  executionSummary,
  startObjection,
} from '../sessions/start-checks.ts'
import type { TrustedSettings } from '../settings/trusted-settings.ts'
import { unappliedText } from '../worktrees/worktree-texts.ts'
import type { HttpDeps } from './deps.ts'
import { queuePlace } from './queue-json.ts'
import type { SessionJson } from './schemas/session.ts'
import { serializeSession } from './serializers.ts'
import { shownFolder } from './shown-folder.ts'

/** What a case needs now, or what one of its sessions needs. */
export async function caseStatus(
  service: HttpDeps,
  contents: CaseContents,
  session: Session | null,
): Promise<Status> {
  const facts = await caseFacts(service, contents)
  if (session === null) return statusOf(contents, facts)
  const json = await serializeSession(service, contents, session)
  return statusOf(contents, facts, await sessionFacts(service, contents, session, json))
}

/** Also what the page of a case shows of it. */
export interface LoadedCaseFacts extends CaseFacts {
  /** What the newest sessions left, that of the newest first. */
  candidates: CandidateRow[]
  /** What a session without an agent would plan with; null if its working folder can't be used. */
  runbook: CaseSetup | null
}

export async function caseFacts(
  service: HttpDeps,
  contents: CaseContents,
): Promise<LoadedCaseFacts> {
  const sessions = [...contents.sessions].reverse()
  const candidates = await candidatesOf(service, contents, sessions)
  const running = attentionOf(contents)
  const runbook = await runbookOf(service, contents)
  return {
    candidates,
    offered: candidates.filter(
      ({ attached, size, session: { state } }) =>
        attached === null && size !== null && state !== 'abandoned',
    ),
    unapplied: await unappliedWork(service, contents, sessions),
    start: await startFacts(service, contents, runbook),
    queue: running?.session_id ? queuePlace(service, running.session_id) : null,
    planSource: sessions[0] ? await planSource(service, sessions[0]) : '',
    runbook,
  }
}

/** The candidates of older sessions are on their own pages. */
const MAX_SESSIONS = 5

async function candidatesOf(
  service: HttpDeps,
  contents: CaseContents,
  sessions: readonly Session[],
): Promise<CandidateRow[]> {
  const rows: CandidateRow[] = []
  for (const session of sessions.filter(({ state }) => hasEnded(state)).slice(0, MAX_SESSIONS)) {
    const candidates = await listCandidates(service, session)
    rows.push(...(await loadCandidates(service, contents, session, candidates)))
  }
  return rows
}

async function unappliedWork(
  { worktrees, log }: HttpDeps,
  { case: { workdir } }: CaseContents,
  sessions: readonly Session[],
): Promise<CaseFacts['unapplied']> {
  const isolated = sessions.filter(({ isolation }) => isolation === 'worktree')
  const found = await Promise.all(
    isolated.map(async (session) => {
      const worktree = await worktrees.view(session, workdir).catch((error) => {
        log(`the worktree of session ${session.id} cannot be read: ${String(error)}`)
        return null
      })
      const text = unappliedText({ number: session.number, worktree })
      const isDiscarded = worktree?.state === 'missing'
      // of older ones the operator has decided, and planned again
      const isOver = isDiscarded && session !== isolated[0]
      return text === null || isOver ? [] : [{ number: session.number, text, isDiscarded }]
    }),
  )
  return found.flat()
}

async function runbookOf(service: HttpDeps, contents: CaseContents): Promise<CaseSetup | null> {
  try {
    return await service.setup.ofCase(contents, OWN_PROVIDER)
  } catch (error) {
    if (error instanceof AppError) return null
    throw error
  }
}

async function startFacts(
  service: HttpDeps,
  { case: { id, provider } }: CaseContents,
  runbook: CaseSetup | null,
): Promise<StartFacts> {
  const settings = await service.settings()
  const name = provider ?? settings.provider
  const from = runbook?.plans_from ?? null
  const hasHooks = await service.setup.hasHooks(name)
  const current = hasHooks
    ? (await service.conversations.currentCase(service.layout.root)).case_id
    : null
  return {
    planner: titleOfProvider(name, settings),
    source: from === null || from === 'agent' ? null : PLAN_SOURCES[from],
    terminal: hasHooks ? { isCurrent: current === id } : null,
  }
}

async function planSource({ sessionTexts }: HttpDeps, session: Session): Promise<string> {
  if (session.provider !== OWN_PROVIDER) return ''
  try {
    const { plan } = await sessionTexts(session.case_id, session)
    return sourceOf(session, plan)
  } catch (error) {
    if (error instanceof AppError) return 'its source'
    throw error
  }
}

function sourceOf({ trail }: Session, plan: string): string {
  return sourceOfPlan(lastOf(trail, 'context_loaded')?.fields.files, plan)
}

/** Also what the page of a session shows of it. */
export interface LoadedSessionFacts extends SessionFacts {
  plan: PlanReading
  summary: ExecutionSummary
  settings: TrustedSettings
}

export async function sessionFacts(
  service: HttpDeps,
  contents: CaseContents,
  session: Session,
  json: Pick<SessionJson, 'plan' | 'problems' | 'queue'>,
): Promise<LoadedSessionFacts> {
  const plan = await readPlan(json.plan)
  const settings = await service.settings()
  const summary = executionSummary(session, plan, settings)
  const terminal = terminalFacts(service, session)
  const facts = {
    session,
    plan,
    summary,
    settings,
    terminal,
    rows: stepRows(session, plan, summary.willRun),
    steps: plan.steps,
    planSource: sourceOf(session, json.plan),
    queue: json.queue,
    isBroken: json.problems.some(isBreaking),
  }
  if (session.state !== 'plan_ready') return { ...facts, planErrors: 0, objection: null }
  const text = await planObjection(service, contents, facts, plan.isRunbook)
  return {
    ...facts,
    planErrors: plan.errors.length,
    objection:
      summary.objection === null
        ? text === null
          ? null
          : { text, isTrust: terminal === null }
        : { text: summary.objection, isTrust: false },
  }
}

/** Why a session can be neither approved nor planned again, whatever its plan says; null if it can. */
export async function planObjection(
  { layout: { root } }: Pick<HttpDeps, 'layout'>,
  { case: { workdir } }: CaseContents,
  { session, terminal, settings }: Pick<LoadedSessionFacts, 'session' | 'terminal' | 'settings'>,
  isRunbook: boolean,
): Promise<string | null> {
  if (terminal === null) return startObjection(session, { root, workdir, settings }, { isRunbook })
  return terminal.conversation === null
    ? "This machine doesn't know the conversation of this session, so nothing can carry out its plan. Abandon the session."
    : null
}

function terminalFacts(service: HttpDeps, session: Session): TerminalFacts | null {
  if (session.origin !== 'terminal') return null
  const conversation = service.conversations.ofSession(session.id)
  return {
    conversation,
    folder: conversation === null ? '' : shownFolder(service.layout.root, conversation.folder),
    isUngated:
      conversation !== null && !hasEnded(session.state) && isUngated(conversation, session.trail),
  }
}
