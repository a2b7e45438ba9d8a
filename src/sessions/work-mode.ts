import { relative } from 'node:path'
import { plainText } from '../files/plain-text.ts'
import type { FolderContents } from '../git/folder-contents.ts'
import { type PlanReading, readPlan } from '../markdown/plan-steps.ts'
import { sha256 } from '../markdown/session-file.ts'
import { AppError } from '../model/app-error.ts'
import { type CaseFolder, type Decide, sessionOf } from '../model/case-folder.ts'
import { runVariables } from '../model/commit-trailer.ts'
import { type Session, sessionMove } from '../model/session.ts'
import { OWN_PROVIDER } from '../model/settings.ts'
import { type NewTrailLine, standingApproval } from '../model/trail.ts'
import type { AgentSpec } from '../runners/agents/agent.ts'
import type { RunReport, WorkRequest, WorkResult } from '../runners/contract.ts'
import type { Sandbox } from '../runners/enclosure/sandbox.ts'
import { openRunFolder, type RunFolder } from '../runners/output/run-folder.ts'
import { killRun } from '../runners/process/kill-run.ts'
import { runbook, runProofSteps } from '../runners/runbook.ts'
import type { TrustedSettings } from '../settings/trusted-settings.ts'
import { recordBase } from './base.ts'
import { memoryOf, promptContext } from './context.ts'
import type { Talk } from './conversations/talk.ts'
import { noteChanges } from './conversations/terminal-plan.ts'
import type { SessionDeps } from './deps.ts'
import { stepEnvironment } from './environment.ts'
import { finishRun, type RunPlace } from './finish-run.ts'
import { type FolderDiffRun, indexOf, repositoryAt, startDiff } from './folder-diff.ts'
import { beginIsolation, type IsolatedWork, whyNotKept, whyUntrustedAt } from './isolation.ts'
import { type Job, updateWithRetry } from './jobs.ts'
import { forgetRun, type LeftWatch, watchLeft } from './left-behind.ts'
import { recordPrompt, workPrompt } from './prompt.ts'
import type { Provider } from './providers.ts'
import { recordGitStart, tryRecordGitChanges } from './record-in-git.ts'
import { appendLine, openRunReport } from './run-recorder.ts'
import { rememberRunFolders, replacedReason, runSandbox, sandboxLine } from './sandbox-policy.ts'
import { notStarted } from './start-checks.ts'
import { runBaseline } from './tests-before.ts'

/** Who carries out a plan: a provider that the service starts, or an agent that a person runs in a terminal. */
export type Worker =
  | { is: 'provider'; provider: Provider }
  | {
      is: 'terminal'
      talk: Talk
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
  start: ((decide: Decide) => Promise<CaseFolder>) | null
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
  const session = await begin(deps, job, {
    runsSteps: worker.is === 'provider' && agentOf(worker, reading) === null,
    start: approved.start,
  })
  const isolated = await beginIsolation(deps, job, session)
  const compared = isolated?.tree ?? job.folder! // all of a worktree becomes the branch
  const repository = await repositoryAt(compared)
  const listed = indexOf(repository)
  const recording = Promise.all([
    recordBase(deps, job, session, repository),
    listed.then((index) => recordGitStart(deps, job, index)),
  ])
  recording.catch(() => {}) // it is awaited below
  if (worker.is === 'terminal') {
    await recording
    await noteChanges(deps, job, worker.talk)
  }
  const places = await rememberRunFolders(deps, job.folder!)
  const place = {
    prefix: relative(compared, job.folder!),
    layout,
    scratch: state.scratch,
    case_id,
    number,
    exclude: isolated?.exclude ?? [layout.memoryRoot, state.root],
    objects: isolated?.objects,
    index: await listed,
    signal: job.signal,
    redactor: deps.redactor,
    scope: reading.scope,
  }
  const [diffRun, watch] = await Promise.all([
    startDiff(repository, place, earlyContents(worker)),
    watchLeft(deps, job, { isolated, repository }),
  ])
  let isGitRecorded = false
  try {
    await recording
    const outcome = await work(deps, job, worker, {
      ...approved,
      isolated,
      session,
      watch,
      diffRun,
    })
    await deps.runGuard.end(session_id)
    const left = await watch.end()
    const replaced = replacedReason(await places.replaced())
    const found = await diffRun.finish()
    const uncommitted = await whyNotKept(deps, job)
    isGitRecorded = true
    const committed = await tryRecordGitChanges(deps, job, diffRun.index())
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
    await watch.close()
    if (!isGitRecorded) await tryRecordGitChanges(deps, job)
    await diffRun.close()
    await places.close()
  }
  await forgetRun(deps, session_id)
}

/** What the work is compared with if something changed before the plan was approved; null if nothing did. */
function earlyContents(worker: Worker): FolderContents | null {
  if (worker.is !== 'terminal') return null
  const { start } = worker.talk
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
  const decide: Decide = (folder) => {
    const session = sessionOf(folder, job.session_id)
    const { provider } = session
    const runs = runsSteps && provider !== OWN_PROVIDER ? { runs: 'steps' as const } : {}
    const started: NewTrailLine = { event: 'session_started', fields: { provider, ...runs } }
    const edit = sessionMove(session, { trigger: 'start', now: now(), after: [started] })
    return [{ file: 'session', number: session.number, edit }]
  }
  const folder = await (start ? start(decide) : updateWithRetry(store, job, decide))
  return sessionOf(folder, job.session_id)
}

async function work(
  deps: SessionDeps,
  job: Job,
  worker: Worker,
  approved: Omit<ApprovedPlan, 'start'> & {
    isolated: IsolatedWork | null
    session: Session
    watch: LeftWatch
    diffRun: FolderDiffRun
  },
): Promise<WorkResult & RunPlace> {
  const { state } = deps
  const { plan, notes, isolated, session, watch, diffRun } = approved
  const settings = await deps.settings.forRun()
  const agents = agentOf(worker, await readPlan(plan))
  const given = stepEnvironment(deps.environment, job, settings, agents?.spec?.env)
  const env = { ...given.env, ...isolated?.env, ...approvalVariables(session) }
  const { timeout } = settings
  const limit = AbortSignal.timeout(timeout.work)
  // a person in a terminal may take days
  const signals = worker.is === 'terminal' ? [] : [limit]
  const signal = AbortSignal.any([job.signal, watch.signal, ...signals])
  const run = await openRunFolder(state.scratch, `work-${job.session_id}`)
  const report = openRunReport(deps, job)
  const opened: Sandbox[] = []
  const workdir = job.folder!
  const isRecordTracked = diffRun.tracks(deps.layout.memoryRoot) ?? undefined
  try {
    const wallsFor = async (agent: AgentSpec | null) => {
      const walls = await runSandbox(deps, {
        workdir,
        run,
        settings,
        signal,
        agent,
        isolated,
        isRecordTracked,
        env,
      })
      opened.push(walls.sandbox)
      if (walls.sandbox.kind === 'none') await deps.runGuard.begin(job)
      return walls
    }
    const walls = await wallsFor(agents?.spec ?? null)
    const { sandbox, places } = walls
    const guarded = report.append(sandboxLine('work', walls))
    // with the start of the first step, which is recorded before that runs
    if (agents !== null || worker.is === 'terminal') await guarded
    else guarded.catch(() => {})
    let own: Promise<Sandbox> | null = null
    // what the agent needs is not shown to steps
    const forSteps = async () => {
      own ??= agents ? wallsFor(null).then((found) => found.sandbox) : Promise.resolve(sandbox)
      return own
    }
    const request: WorkRequest = {
      plan,
      workdir,
      env,
      sandbox,
      signal,
      report: lookingAfterSteps(report, watch),
      agent: null,
      stepTimeoutMs: timeout.step,
      limits: deps.limits,
    }
    const before = await runBaseline(deps, job, request, forSteps)
    if (worker.is === 'terminal' && worker.talk.endPreparation()) worker.letWork()
    const result = await carryOut(deps, job, worker, {
      request,
      notes,
      settings,
      run,
      agents,
      forSteps,
    }).catch(storageFailure)
    await guarded
    if (signal !== job.signal && limit.aborted) job.ending ??= 'time_out'
    const { missing } = given
    return { ...(result.ok ? result : clean(deps, result)), missing, places, before }
  } finally {
    await killLeftovers(deps, job)
    for (const each of opened) await each.end()
    await report.close()
    await run.close()
  }
}

/** The output of a step could not be stored: the run stops there. */
function storageFailure(error: unknown): WorkResult {
  if (!(error instanceof AppError && error.code.startsWith('storage_'))) throw error
  return { ok: false, reason: error.message.replace(/\.$/, '') }
}

function lookingAfterSteps(report: RunReport, watch: LeftWatch): RunReport {
  return {
    ...report,
    async stepFinished(outcome) {
      await report.stepFinished(outcome)
      await watch.look()
    },
  }
}

/** By which `casefile trailer` knows the session where its programs do not see the record. */
function approvalVariables({ number, trail }: Session): Record<string, string> {
  const approval = standingApproval(trail)
  if (!approval) throw new Error('work without an approval')
  const { fields, time } = approval
  return runVariables({
    session: number,
    plan_sha256: String(fields.plan_sha256),
    approved_at: time,
  })
}

function carryOut(
  deps: SessionDeps,
  job: Job,
  worker: Worker,
  { agents, ...agentWork }: AgentWork & { agents: Provider | null },
): Promise<WorkResult> {
  const { request } = agentWork
  if (worker.is === 'terminal') {
    return worker.talk.work(request.signal, async () => {
      const checked = await runProofSteps(request)
      await killRun(job, deps.limits.endRun)
      return checked
    })
  }
  return agents ? runAgentWork(deps, job, agents, agentWork) : runbook.execute(request)
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
  settings: TrustedSettings
  run: RunFolder
  forSteps: () => Promise<Sandbox>
}

/** Runs the agent with the plan, then the plan's proof steps. */
async function runAgentWork(
  deps: SessionDeps,
  job: Job,
  provider: Provider,
  { request, notes, settings, run, forSteps }: AgentWork,
): Promise<WorkResult> {
  const { env, sandbox, report, plan, workdir } = request
  const folder = await deps.store.read(job.case_id)
  const session = sessionOf(folder, job.session_id)
  const memory = await memoryOf(deps, folder)
  const context = await promptContext(deps, folder, session, {
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
  const place = { folder: workdir, trusted }
  const why = provider.spec && (await whyUntrustedAt(deps, job, provider.spec, place))
  if (why) return { ok: false, reason: notStarted(provider.id, why).replace(/\.$/, '') }
  const result = await provider.runner.execute({ ...request, agent })
  await killLeftovers(deps, job)
  await sandbox.end()
  if (!result.ok) return result
  const { steps } = await readPlan(plan)
  if (!steps.some(({ proof }) => proof !== null)) return result
  return runProofSteps({ ...request, sandbox: await forSteps() })
}
