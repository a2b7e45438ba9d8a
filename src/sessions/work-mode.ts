import { plainText } from '../files/plain-text.ts'
import { decodeUtf8 } from '../files/safe-read.ts'
import { type PlanReading, readPlan } from '../markdown/plan-steps.ts'
import { sha256 } from '../markdown/session-file.ts'
import { evidenceHash, hasOtherTexts } from '../markdown/session-texts.ts'
import { AppError } from '../model/app-error.ts'
import { type CaseFolder, type Edit, sessionOf } from '../model/case-folder.ts'
import type { SessionType } from '../model/case-state.ts'
import { caseMove, endRun, type RunEnd } from '../model/decide-session.ts'
import type { Actor } from '../model/history.ts'
import { type Session, sessionMove } from '../model/session.ts'
import { OWN_PROVIDER } from '../model/settings.ts'
import type { NewTrailLine } from '../model/trail.ts'
import type { AgentSpec } from '../runners/agents/agent.ts'
import type { WorkRequest, WorkResult } from '../runners/contract.ts'
import { openRunFolder, type RunFolder } from '../runners/output/run-folder.ts'
import { killRun } from '../runners/process/kill-run.ts'
import type { Sandbox } from '../runners/process/sandbox.ts'
import { runbook, runProofSteps } from '../runners/runbook.ts'
import { keepConflictCopy } from '../workspace/late-saves/conflict-copy.ts'
import { readMemory } from '../workspace/memory-files.ts'
import type { TrustedSettings } from '../workspace/settings/trusted-settings.ts'
import { recordBase } from './base.ts'
import { memoryOf, promptContext } from './context.ts'
import type { Talk } from './conversations/talk.ts'
import { noteChanges } from './conversations/terminal-plan.ts'
import type { SessionDeps } from './deps.ts'
import { type MissingEnvironment, missingEnvironmentNote, stepEnvironment } from './environment.ts'
import { boundedOutput, evidenceLines, stepEvidence } from './evidence.ts'
import { type FolderDiff, startDiff } from './folder-diff.ts'
import { beginIsolation, type IsolatedWork, whyNotKept, whyUntrustedAt } from './isolation.ts'
import { endingActor, type Job, updateWithRetry } from './jobs.ts'
import { recordPrompt, workPrompt } from './prompt.ts'
import type { Provider } from './providers.ts'
import { appendLine, openRunReport } from './run-recorder.ts'
import { rememberRunFolders, replacedReason, sandboxLine, workSandbox } from './sandbox-policy.ts'
import { notStarted } from './start-checks.ts'
import { comparedTests, runBaseline, type TestsByStep } from './tests-before.ts'

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
  })
  const isFirstTested = reading.steps.some(({ baseline }) => baseline)
  if (worker.is === 'terminal' && !isFirstTested) worker.letWork()
  const isolated = await beginIsolation(deps, job, session)
  await recordBase(deps, job)
  if (worker.is === 'terminal') await noteChanges(deps, job, worker.talk)
  const places = await rememberRunFolders(deps, job.folder!)
  const diffRun = await startDiff(job.folder!, {
    layout,
    scratch: state.scratch,
    case_id,
    number,
    exclude: isolated?.exclude ?? [layout.memoryRoot, state.root],
    objects: isolated?.objects,
    signal: job.signal,
    redactor: deps.redactor,
    scope: reading.scope,
  })
  try {
    const outcome = await work(deps, job, worker, { ...approved, isolated })
    await killLeftovers(deps, job)
    await deps.runGuard.end(session_id)
    const replaced = replacedReason(await places.replaced())
    const folderDiff = await diffRun.finish()
    const uncommitted = await whyNotKept(deps, job)
    const workdir = job.folder!
    job.folder = null // no process of the run works there now; only the result remains to be recorded
    const ended = failIfReplaced(outcome, replaced ?? uncommitted)
    await finish(deps, job, session, { ...ended, plan, folderDiff, workdir })
  } finally {
    await diffRun.close()
    await places.close()
  }
  await deps.runs.remove(session_id)
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
  { runsSteps }: { runsSteps: boolean },
): Promise<Session> {
  const folder = await updateWithRetry(store, job, (folder) => {
    const session = sessionOf(folder, job.session_id)
    const { provider } = session
    const runs = runsSteps && provider !== OWN_PROVIDER ? { runs: 'steps' as const } : {}
    const started: NewTrailLine = { event: 'session_started', fields: { provider, ...runs } }
    const edit = sessionMove(session, { trigger: 'start', now: now(), after: [started] })
    return [{ file: 'session', number: session.number, edit }]
  })
  return sessionOf(folder, job.session_id)
}

async function work(
  deps: SessionDeps,
  job: Job,
  worker: Worker,
  { plan, notes, isolated }: ApprovedPlan & { isolated: IsolatedWork | null },
): Promise<WorkResult & { missing: MissingEnvironment; before: TestsByStep }> {
  const { state } = deps
  const settings = await deps.settings()
  const agents = agentOf(worker, await readPlan(plan))
  const { env, missing } = stepEnvironment(deps.environment, job, settings, agents?.spec?.env)
  const { timeout } = settings
  const limit = AbortSignal.timeout(timeout.work)
  // a person in a terminal may take days
  const signal = worker.is === 'terminal' ? job.signal : AbortSignal.any([job.signal, limit])
  const run = await openRunFolder(state.scratch, `work-${job.session_id}`)
  const report = openRunReport(deps, job)
  const opened: Sandbox[] = []
  try {
    const workdir = job.folder!
    const wallsFor = async (agent: AgentSpec | null) => {
      const walls = await workSandbox(deps, { workdir, run, settings, signal, agent, isolated })
      opened.push(walls.sandbox)
      if (walls.sandbox.kind === 'none') await deps.runGuard.begin(job)
      return walls
    }
    const { sandbox, places } = await wallsFor(agents?.spec ?? null)
    await appendLine(deps, job, sandboxLine('work', sandbox, places))
    const request: WorkRequest = {
      plan,
      workdir,
      env: { ...env, ...isolated?.env },
      sandbox,
      signal,
      report,
      agent: null,
      stepTimeoutMs: timeout.step,
      limits: deps.limits,
      scratch: state.scratch,
    }
    const before = await runBaseline(deps, job, request)
    if (worker.is === 'terminal' && worker.talk.endPreparation()) worker.letWork()
    const result = await carryOut(deps, job, worker, {
      request,
      notes,
      settings,
      run,
      agents,
      // what the agent needs is not shown to steps
      forSteps: async () => (await wallsFor(null)).sandbox,
    })
    if (signal !== job.signal && limit.aborted) job.ending ??= 'time_out'
    return { ...(result.ok ? result : clean(deps, result)), missing, before }
  } finally {
    await killLeftovers(deps, job)
    for (const each of opened) if (each.kind === 'mount') await each.end()
    await report.close()
    await run.close()
  }
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
  if (sandbox.kind === 'mount') await sandbox.end()
  if (!result.ok) return result
  const { steps } = await readPlan(plan)
  if (!steps.some(({ proof }) => proof !== null)) return result
  return runProofSteps({ ...request, sandbox: await forSteps() })
}

/** The outcome of a run. `plan` is the text that ran, `missing` the variables its steps did not get. */
type WorkOutcome = WorkResult & {
  plan: string
  missing: MissingEnvironment
  /** The tests before the work. */
  before: TestsByStep
  folderDiff: FolderDiff
  workdir: string
}

/** Records the end of a run with its evidence. A complete session moves its case. */
async function finish(
  deps: SessionDeps,
  job: Job,
  { type, provider }: Session,
  outcome: WorkOutcome,
): Promise<void> {
  const { store, layout, now } = deps
  const { case_id, session_id, number } = job
  const end = await endOf(deps, job, outcome)
  const before = await readMemory(layout, case_id, { kind: 'session', number })
  const moves = (folder: CaseFolder) =>
    end.state === 'complete' ? caseMove(folder, 'completed', type) : []
  const by = endingActor(job, provider)
  const texts = { texts: session_id, by }
  try {
    await store.update(case_id, (folder) => [end.edit(folder), ...moves(folder)], texts)
  } catch (error) {
    if (!isOfCaseFile(error)) throw error
    const { state } = sessionOf(await store.read(case_id), session_id)
    if (state === 'executing') {
      await updateWithRetry(store, job, (folder) => [end.edit(folder)], texts)
    }
    if (end.state === 'complete') await moveCase(deps, case_id, type, by)
  }
  const text = before.ok ? decodeUtf8(before.bytes) : null
  if (!before.ok || !text?.ok || !(await hasOtherTexts(text.text, outcome.plan))) return
  // keep what a person wrote where the run's record belongs
  const place = { time: now(), within: layout.caseFolder(case_id) }
  const path = layout.sessionFile(case_id, number)
  await store.withFiles(case_id, () => keepConflictCopy(path, before.bytes, place))
}

/** If case.md is broken or just being saved, the session still ends. */
function isOfCaseFile(error: unknown): boolean {
  const codes: unknown[] = ['unreadable_file', 'changed_meanwhile', 'git_busy']
  return error instanceof AppError && codes.includes(error.code)
}

/** Also called at the next start, if the service died between the session's end and the case's move. */
export async function moveCase(
  { store }: Pick<SessionDeps, 'store'>,
  case_id: string,
  type: SessionType,
  by?: Actor,
): Promise<void> {
  const options = by ? { by } : {}
  await store.update(case_id, (folder) => caseMove(folder, 'completed', type), options)
}

async function endOf(
  { store, layout, redactor, now }: SessionDeps,
  job: Job,
  outcome: WorkOutcome,
) {
  const { case_id, session_id, number } = job
  const { plan, folderDiff, workdir, before } = outcome
  const present = sessionOf(await store.read(case_id), session_id)
  const steps = await stepEvidence(layout, case_id, number, present.trail, workdir)
  const compared = redactor.value(
    await comparedTests(layout, case_id, present, { before, workdir }),
  )
  const why = failure(job, outcome)
  const hint = why !== null && job.ending === null ? missingEnvironmentNote(outcome.missing) : ''
  // redact before hashing: the evidence hash covers the text in the record
  const output = boundedOutput(number, [steps.output, why ?? '', hint].map(redactor.text))
  const candidates = [...steps.candidates, ...('diff' in folderDiff ? folderDiff.candidates : [])]
  const evidence = {
    diff: 'diff' in folderDiff ? folderDiff.diff : null,
    tests: steps.tests,
    failed_tests: redactor.value(steps.failed_tests),
  }
  const state = why === null ? 'complete' : job.ending === 'abandon' ? 'abandoned' : 'failed'
  const reason = state === 'abandoned' ? job.reason : (why ?? undefined)

  function edit(folder: CaseFolder): Edit {
    const session = sessionOf(folder, session_id)
    if (session.state !== 'executing') throw overtaken(session)
    const texts = { output: output || 'The plan has no steps to run.', candidates }
    const trail = [...session.trail, ...compared]
    const evidence_sha256 = evidenceHash({ ...evidence, trail }, { plan, output: texts.output })
    const recorded: NewTrailLine = { event: 'evidence_recorded', fields: { evidence_sha256 } }
    const end: RunEnd = {
      mode: 'work',
      state,
      reason,
      results: [
        ...evidenceLines(folderDiff, steps.tests, compared),
        ...(state === 'complete' ? [recorded] : []),
      ],
      evidence,
      // the record has the text that ran, even if somebody edited the file meanwhile
      texts: folder.texts!.plan === plan ? texts : { ...texts, plan },
    }
    return endRun(folder, session_id, end, now())
  }
  return { state, edit }
}

/** Why the run failed; null if it succeeded. */
function failure(job: Job, outcome: WorkResult): string | null {
  if (job.ending === 'abandon') return 'The operator abandoned the session.'
  if (job.ending === 'stop') return 'The service was stopped while the session was executing.'
  if (job.ending === 'time_out')
    return 'The session reached the time limit for work (timeout.work in casefile.md).'
  return outcome.ok ? null : `The run stopped: ${outcome.reason}.`
}

function overtaken(session: Session): AppError {
  return new AppError(
    'wrong_state',
    `Session ${session.number} is now ${session.state}, not executing.`,
  )
}
