import { plainText } from '../files/plain-text.ts'
import { readPlan } from '../markdown/plan-steps.ts'
import { sha256 } from '../markdown/session-file.ts'
import { sessionOf } from '../model/case-folder.ts'
import { type Session, sessionMove } from '../model/session.ts'
import type { NewTrailLine } from '../model/trail.ts'
import type { WorkRequest, WorkResult } from '../runners/contract.ts'
import { openRunFolder, type RunFolder } from '../runners/output/run-folder.ts'
import { killRun } from '../runners/process/kill-run.ts'
import { runbook, runProofSteps } from '../runners/runbook.ts'
import type { TrustedSettings } from '../workspace/settings/trusted-settings.ts'
import { notStarted, whyUntrusted } from './agent-files.ts'
import { memoryOf, promptContext } from './context.ts'
import type { SessionDeps } from './deps.ts'
import { type MissingEnvironment, stepEnvironment } from './environment.ts'
import { finish } from './finishing.ts'
import { startDiff } from './folder-diff.ts'
import type { Job } from './jobs.ts'
import { workPrompt } from './prompt.ts'
import { recordPrompt } from './prompt-record.ts'
import type { Provider } from './providers.ts'
import { appendLine, openRunReport } from './run-report.ts'
import { rememberRunFolders, replacedReason, sandboxLine, workSandbox } from './sandbox-policy.ts'
import { updateWithRetry } from './update-with-retry.ts'

/** The step itself already had its grace period, and an operator who stops a run is waiting. */
const ABANDONED_GRACE_MS = 500

/** Work mode: runs the approved plan, collects the evidence, and moves the session and its case. */
export async function execute(
  deps: SessionDeps,
  job: Job,
  provider: Provider,
  plan: string,
): Promise<void> {
  const { layout, state } = deps
  const { session_id, case_id, number } = job
  const session = await begin(deps, job)
  const places = await rememberRunFolders(deps, job.folder!)
  const diffRun = await startDiff(job.folder!, {
    layout,
    scratch: state.scratch,
    case_id,
    number,
    exclude: [layout.memoryRoot, state.root],
    signal: job.signal,
    redactor: deps.redactor,
  })
  try {
    const outcome = await work(deps, job, provider, plan)
    await killRun(job, job.signal.aborted ? ABANDONED_GRACE_MS : undefined)
    await deps.runGuard.end(session_id)
    const replaced = replacedReason(await places.replaced())
    const folderDiff = await diffRun.finish()
    const workdir = job.folder!
    job.folder = null // no process of the run works there now; only the result remains to be recorded
    const ended = failIfReplaced(outcome, replaced)
    await finish(deps, job, session, { ...ended, plan, folderDiff, workdir })
  } finally {
    await diffRun.close()
    await places.close()
  }
  await deps.runs.remove(session_id)
}

/** Moves the session from approved to executing. */
async function begin({ store, now }: SessionDeps, job: Job): Promise<Session> {
  const folder = await updateWithRetry(store, job, (folder) => {
    const session = sessionOf(folder, job.session_id)
    const { provider } = session
    const started: NewTrailLine = { event: 'session_started', fields: { provider } }
    const edit = sessionMove(session, { trigger: 'start', now: now(), after: [started] })
    return [{ file: 'session', number: session.number, edit }]
  })
  return sessionOf(folder, job.session_id)
}

async function work(
  deps: SessionDeps,
  job: Job,
  provider: Provider,
  plan: string,
): Promise<WorkResult & { missing: MissingEnvironment }> {
  const { state } = deps
  const settings = await deps.settings()
  const { isRunbook } = await readPlan(plan)
  const agents = provider.runner.capabilities.isAgent && !isRunbook ? provider : null
  const { env, missing } = stepEnvironment(deps.environment, job, settings, agents?.spec?.env)
  const { timeout } = settings
  const limit = AbortSignal.timeout(timeout.work)
  const signal = AbortSignal.any([job.signal, limit])
  const run = await openRunFolder(state.scratch, `work-${job.session_id}`)
  const report = openRunReport(deps, job)
  try {
    const workdir = job.folder!
    const sandbox = await workSandbox(deps, { workdir, runFolder: run.path, signal })
    await appendLine(deps, job, sandboxLine('work', sandbox))
    if (sandbox.kind === 'none') await deps.runGuard.begin(job)
    const request: WorkRequest = {
      plan,
      workdir,
      env,
      sandbox,
      signal,
      report,
      agent: null,
      stepTimeoutMs: timeout.step,
      scratch: state.scratch,
    }
    const result = agents
      ? await runAgentWork(deps, job, agents, { request, settings, run })
      : await runbook.execute(request)
    if (limit.aborted) job.ending ??= 'time_out'
    return { ...(result.ok ? result : clean(deps, result)), missing }
  } finally {
    await report.close()
    await run.close()
  }
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
  settings: TrustedSettings
  run: RunFolder
}

/** Runs the agent with the plan, then the plan's proof steps. */
async function runAgentWork(
  deps: SessionDeps,
  job: Job,
  provider: Provider,
  { request, settings, run }: AgentWork,
): Promise<WorkResult> {
  const { env, sandbox, report, plan, workdir } = request
  const folder = await deps.store.read(job.case_id)
  const session = sessionOf(folder, job.session_id)
  const memory = await memoryOf(deps, folder)
  const { instructions } = settings
  const context = await promptContext(deps, folder, session, {
    memory,
    instructions,
    workdir,
    provider,
  })
  const prompt = workPrompt(context, plan, sha256(plan))
  const { text, line } = await recordPrompt(deps, job, 'work', prompt)
  await appendLine(deps, job, line)
  const files = await run.inner('files')
  const agent = {
    closed: [deps.layout.memoryRoot],
    timeoutMs: settings.timeout.work,
    retriesMs: settings.timeout.retries,
    prompt: text,
    newId: deps.newId(),
    resume: null,
    env,
    folder: files,
    sandbox,
    report,
  }
  // checked again just before the program starts: the files may have changed since the approval
  const place = { root: deps.layout.root, folder: workdir }
  const { files: trusted } = await deps.settings()
  const why = provider.spec && (await whyUntrusted(provider.spec, place, trusted))
  if (why) return { ok: false, reason: notStarted(provider.id, why).replace(/\.$/, '') }
  const result = await provider.runner.execute({ ...request, agent })
  await killRun(job, job.signal.aborted ? ABANDONED_GRACE_MS : undefined)
  return result.ok ? runProofSteps(request) : result
}
