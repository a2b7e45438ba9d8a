import { relative } from 'node:path'
import { plainText } from '../files/plain-text.ts'
import type { FolderContents } from '../git/folder-contents.ts'
import { type PlanReading, readPlan } from '../markdown/plan-steps.ts'
import { sha256 } from '../markdown/session-file.ts'
import { AppError } from '../model/app-error.ts'
import { type CaseContents, type Decide, sessionOf } from '../model/case-contents.ts'
import { type Session, sessionMove } from '../model/session.ts'
import { OWN_PROVIDER } from '../model/settings.ts'
import { type NewTrailLine, standingApproval } from '../model/trail.ts'
import type { RunReport, WorkRequest, WorkResult } from '../runners/contract.ts'
import { killRun } from '../runners/process/kill-run.ts'
import { runbook, runProofSteps } from '../runners/runbook.ts'
import { presentBase } from './base-commit.ts'
import { memoryOf, promptContext } from './context.ts'
import { noteChanges } from './conversations/terminal-plan.ts'
import type { TurnQueue } from './conversations/turn-queue.ts'
import type { SessionDeps } from './deps.ts'
import { finishRun, type RunSurroundings } from './finish-run.ts'
import { repositoryAt, startDiff } from './folder-diff.ts'
import { beginIsolation, whyNotKept, whyUntrustedAt } from './isolation.ts'
import { type Job, updateWithRetry } from './jobs.ts'
import { forgetRun, type LeftWatch, watchLeft } from './left-behind.ts'
import { type PreparedRun, prepareRun } from './prepared-run.ts'
import { recordPrompt, workPrompt } from './prompt.ts'
import type { Provider } from './providers.ts'
import { noteGitStart, tryNoteRunCommits } from './run-commits.ts'
import { appendLine, appendLines, openRunReport } from './run-recorder.ts'
import { notStarted } from './start-checks.ts'
import { runBaseline } from './tests-before.ts'
import { rememberRunFolders, replacedReason, sandboxLine } from './walls.ts'

/** Who carries out a plan: a provider that the service starts, or an agent that a person runs in a terminal. */
export type Worker =
  | { is: 'provider'; provider: Provider }
  | {
      is: 'terminal'
      turnQueue: TurnQueue
      /** Answers the agent that its plan is approved. */
      letWork(): void
    }

/** An approved plan, with the operator's notes on it; empty without any. */
export interface ApprovedPlan {
  plan: string
  notes: string
  /**
   * Records that the session starts; null retries until that is possible. If it rejects, nothing has started, and nothing
   * will.
   */
  start: ((decide: Decide) => Promise<CaseContents>) | null
}

/** Work mode: runs the approved plan, collects the evidence, and moves the session and its case. */
export async function execute(
  deps: SessionDeps,
  job: Job,
  worker: Worker,
  approved: ApprovedPlan,
): Promise<void> {
  const { plan } = approved
  const { layout, state } = deps
  const { session_id, case_id, number } = job
  const reading = await readPlan(plan)
  const agent = agentOf(worker, reading)
  const session = await begin(deps, job, {
    runsSteps: worker.is === 'provider' && agent === null,
    start: approved.start,
  })
  const isStanding = standingApproval(session.trail)?.fields.approved_by === 'standing'
  const isolated = await beginIsolation(deps, job, session)
  const compared = isolated?.tree ?? job.folder! // all of a worktree becomes the branch
  const stop = new AbortController()
  const place = await prepareRun(deps, job, {
    session,
    isolated,
    agent: agent?.spec ?? null,
    isEndless: worker.is === 'terminal', // a person may take days
    stop: stop.signal,
  })
  const closing = [place.close]
  let isGitRecorded = false
  try {
    const folders = await rememberRunFolders(deps, job.folder!)
    closing.push(folders.close)
    closing.push(async () => {
      if (!isGitRecorded) await tryNoteRunCommits(deps, job)
    })
    const repository = await repositoryAt(compared)
    const recording = noteGitStart(deps, job, repository)
    const watching = watchLeft(deps, job, { isolated, repository, walls: place.walls, stop })
    const base = presentBase(deps, job, session, repository)
    for (const each of [recording, watching, base]) each.catch(() => {}) // they are awaited below
    if (worker.is === 'terminal') {
      await appendLine(deps, job, await base)
      await noteChanges(deps, job, worker.turnQueue)
    }
    const scene = {
      prefix: relative(compared, job.folder!),
      layout,
      scratch: state.scratch,
      case_id,
      number,
      exclude: isolated?.exclude ?? [layout.memoryRoot, state.root],
      objects: isolated?.objects,
      signal: job.signal,
      redactor: deps.redactor,
      scope: { ...reading.scope, isStanding },
    }
    const diffing = startDiff(repository, scene, earlyContents(worker))
    closing.push(async () => (await diffing).close())
    const [diffRun, watch] = await Promise.all([diffing, watching, recording])
    const lines: NewTrailLine[] = worker.is === 'terminal' ? [] : [await base]
    const outcome = await work(deps, job, worker, {
      ...approved,
      reading,
      isStanding,
      agent,
      place,
      lines,
      watch,
    })
    await deps.runGuard.end(session_id)
    const left = await watch.end()
    const replaced = replacedReason(await folders.replaced())
    const found = await diffRun.finish()
    const uncommitted = await whyNotKept(deps, job)
    isGitRecorded = true
    const committed = await tryNoteRunCommits(deps, job)
    // a session may have damaged the worktree's link to git, which is whole now
    const folderDiff = isolated && 'reason' in found ? await diffRun.finish() : found
    const workdir = job.folder!
    job.release() // no process of the run works there now; only the result remains to be recorded
    // a run that was ended by what it wrote says no other reason
    const own = left.why === null ? outcome : { ...outcome, ok: false as const, reason: left.why }
    const ended = failIfReplaced(own, replaced ?? uncommitted ?? committed.reason)
    await finishRun(deps, job, session, {
      ...ended,
      plan,
      folderDiff,
      workdir,
      left: left.lines,
      committed: committed.note,
    })
  } finally {
    for (const close of closing.reverse()) await close()
  }
  await forgetRun(deps, session_id)
}

/** What the work is compared with if something changed before the plan was approved; null if nothing did. */
function earlyContents(worker: Worker): FolderContents | null {
  if (worker.is !== 'terminal') return null
  const { start } = worker.turnQueue
  return start && start.recorded.size > 0 ? start.contents : null
}

function killLeftovers({ limits }: SessionDeps, job: Job): Promise<number> {
  return killRun(job, job.signal.aborted ? limits.endAbandoned : limits.endRun)
}

/** The agent that the service starts for a plan; null if it runs the steps itself. */
function agentOf(worker: Worker, { isRunbook }: Pick<PlanReading, 'isRunbook'>): Provider | null {
  if (worker.is === 'terminal' || isRunbook) return null
  return worker.provider.runner.capabilities.isAgent ? worker.provider : null
}

/** Moves the session from approved to executing. */
async function begin(
  { store, now }: SessionDeps,
  job: Job,
  { runsSteps, start }: { runsSteps: boolean } & Pick<ApprovedPlan, 'start'>,
): Promise<Session> {
  const decide: Decide = (contents) => {
    const session = sessionOf(contents, job.session_id)
    const { provider } = session
    const runs = runsSteps && provider !== OWN_PROVIDER ? { runs: 'steps' as const } : {}
    const edit = sessionMove(session, { trigger: 'start', now: now(), act: runs })
    return [{ file: 'session', number: session.number, edit }]
  }
  const contents = await (start ? start(decide) : updateWithRetry(store, job, decide))
  return sessionOf(contents, job.session_id)
}

interface Work extends Omit<ApprovedPlan, 'start'> {
  reading: PlanReading
  isStanding: boolean
  agent: Provider | null
  place: PreparedRun
  /** What is recorded before its first program runs. */
  lines: NewTrailLine[]
  watch: LeftWatch
}

async function work(
  deps: SessionDeps,
  job: Job,
  worker: Worker,
  { plan, notes, reading, isStanding, agent, place, lines, watch }: Work,
): Promise<WorkResult & RunSurroundings> {
  const { settings, env, signal, missing, forSteps } = place
  const limit = place.startLimit()
  // those of a runbook with the start of its first step
  const isLater = agent === null && worker.is === 'provider'
  const report = openRunReport(deps, job, isLater ? lines : [])
  try {
    const walls = await place.walls
    const { sandbox, places } = walls
    lines.push(sandboxLine('work', walls))
    if (!isLater) await appendLines(deps, job, lines)
    const request: WorkRequest = {
      plan,
      isStanding,
      workdir: job.folder!,
      env,
      sandbox,
      signal,
      report: lookingAfterActs(report, watch),
      agent: null,
      stepTimeoutMs: settings.timeout.step,
      limits: deps.limits,
    }
    const before = await runBaseline(deps, job, request, forSteps)
    if (worker.is === 'terminal' && worker.turnQueue.endPreparation()) worker.letWork()
    const result = await carryOut(deps, job, worker, {
      request,
      notes,
      place,
      reading,
      agent,
    }).catch(storageFailure)
    if (limit.aborted) job.ending ??= 'time_out'
    return { ...(result.ok ? result : clean(deps, result)), missing, places, before }
  } finally {
    await killLeftovers(deps, job)
    await place.close()
    await report.close()
  }
}

/** The output of a step could not be stored: the run stops there. */
function storageFailure(error: unknown): WorkResult {
  if (!(error instanceof AppError && error.code.startsWith('storage_'))) throw error
  return { ok: false, reason: error.message.replace(/\.$/, '') }
}

function lookingAfterActs(report: RunReport, watch: LeftWatch): RunReport {
  return {
    ...report,
    async note(note) {
      await report.note(note)
      await watch.look()
    },
    async stepFinished(outcome) {
      await report.stepFinished(outcome)
      await watch.look()
    },
  }
}

function carryOut(
  deps: SessionDeps,
  job: Job,
  worker: Worker,
  { agent, ...agentWork }: AgentWork & { agent: Provider | null },
): Promise<WorkResult> {
  const { request } = agentWork
  if (worker.is === 'terminal') {
    return worker.turnQueue.work(request.signal, async () => {
      const checked = await runProofSteps(request)
      await killRun(job, deps.limits.endRun)
      return checked
    })
  }
  return agent ? runAgentWork(deps, job, agent, agentWork) : runbook.execute(request)
}

function failIfReplaced<W extends WorkResult>(outcome: W, replaced: string | null) {
  if (replaced === null) return outcome
  const reason = outcome.ok ? replaced : `${outcome.reason}; and ${replaced}`
  return { ...outcome, ok: false as const, reason }
}

/** Removes secrets from the reason, which may quote an agent's output. */
function clean({ redactor }: SessionDeps, { reason }: { reason: string }): WorkResult {
  return { ok: false, reason: redactor.text(plainText(reason)) }
}

interface AgentWork {
  request: WorkRequest
  notes: string
  reading: PlanReading
  place: PreparedRun
}

/** Runs the agent with the plan, then the plan's proof steps. */
async function runAgentWork(
  deps: SessionDeps,
  job: Job,
  provider: Provider,
  { request, notes, reading, place }: AgentWork,
): Promise<WorkResult> {
  const { settings, run, forSteps } = place
  const { env, sandbox, report, plan, workdir } = request
  const contents = await deps.store.read(job.case_id)
  const session = sessionOf(contents, job.session_id)
  const memory = await memoryOf(deps, contents)
  const context = await promptContext(deps, contents, session, {
    memory,
    settings,
    workdir,
    provider,
  })
  const prompt = workPrompt(context, { plan, sha256: sha256(plan), notes })
  const { text, line } = await recordPrompt(deps, job, 'work', prompt)
  await appendLine(deps, job, line)
  const files = await run.inner('files')
  const agent = {
    closed: [deps.layout.memoryRoot],
    timeoutMs: settings.timeout.work,
    retriesMs: settings.timeout.retries,
    limits: deps.limits,
    prompt: text,
    newId: deps.newId(),
    resume: null,
    env,
    folder: files,
    sandbox,
    report,
  }
  // checked again just before the program starts: the files may have changed since the approval
  const { files: trusted } = await deps.settings()
  const there = { folder: workdir, trusted }
  const why = provider.spec && (await whyUntrustedAt(deps, job, provider.spec, there))
  if (why) return { ok: false, reason: notStarted(provider.id, why).replace(/\.$/, '') }
  const result = await provider.runner.execute({ ...request, agent })
  await killLeftovers(deps, job)
  await sandbox.end()
  if (!result.ok) return result
  if (!reading.steps.some(({ proof }) => proof !== null)) return result
  return runProofSteps({ ...request, sandbox: await forSteps() })
}
