import { type CaseFolder, sessionOf } from '../model/case-folder.ts'
import { type PlanRequest, type PlanResult, RunnerFailure } from '../runners/contract.ts'
import { openRunFolder, type RunFolder } from '../runners/output/run-folder.ts'
import { killRun } from '../runners/process/kill-run.ts'
import type { Sandbox } from '../runners/process/sandbox.ts'
import { openPlanFolders, type PlanFolders } from '../snapshots/plan-folders.ts'
import type { TrustedSettings } from '../workspace/settings/trusted-settings.ts'
import { notStarted, whyUntrustedCopy } from './agent-files.ts'
import { beginPlanning } from './begin-planning.ts'
import { promptContext } from './context.ts'
import type { SessionDeps } from './deps.ts'
import { stepEnvironment } from './environment.ts'
import type { Job } from './jobs.ts'
import { planPrompt } from './prompt.ts'
import { recordPrompt } from './prompt-record.ts'
import type { Provider } from './providers.ts'
import { appendLine, openRunReport } from './run-report.ts'
import { planSandbox, rememberRunFolders, replacedReason, sandboxLine } from './sandbox-policy.ts'

export interface AgentPlanning {
  provider: Provider
  request: PlanRequest
  settings: TrustedSettings
  folder: CaseFolder
}

/**
 * Lets an agent plan in a copy of the working folder. Where mounts work, the folder itself is read-only. Any change
 * the agent made anyway fails the planning: its own plan mode is not trusted.
 */
export async function planWithAgent(
  deps: SessionDeps,
  job: Job,
  planning: AgentPlanning,
): Promise<PlanResult> {
  const prepared = await preparePrompt(deps, job, planning)
  const run = await openRunFolder(deps.state.scratch, `plan-${job.session_id}`)
  try {
    const { workdir, signal } = planning.request
    const sandbox = await planSandbox(deps, { workdir, runFolder: run.path, signal })
    const folders = await openPlanFolders(workdir, {
      folder: await run.inner('project'),
      exclude: [deps.layout.memoryRoot, deps.state.root],
      ignoredToo: sandbox.kind === 'none',
      signal,
    })
    try {
      return await planInSandbox(deps, job, planning, { prepared, run, folders, sandbox })
    } finally {
      await folders.close()
    }
  } finally {
    await run.close()
  }
}

interface PreparedPrompt {
  prompt: string
  /** The id of the agent's conversation to resume. */
  resume: string | null
}

/** A conversation id with this form cannot be mistaken for a command-line option. */
const CONVERSATION = /^[A-Za-z0-9][\w.:-]{0,127}$/

/** Builds and records the prompt. A revision resumes the agent's earlier conversation. */
async function preparePrompt(
  deps: SessionDeps,
  job: Job,
  { provider, request, settings, folder }: AgentPlanning,
): Promise<PreparedPrompt> {
  const session = sessionOf(folder, job.session_id)
  const { memory, note = '', workdir } = request
  const { instructions } = settings
  const context = await promptContext(deps, folder, session, {
    memory,
    instructions,
    workdir,
    provider,
  })
  const isFirst = session.state === 'created'
  const plan = isFirst ? null : (await deps.sessionTexts(folder.case.id, session)).plan
  const hasAsked = note !== '' || plan !== null
  const prompt = planPrompt(context, hasAsked ? { plan, note } : null)
  const { text, line } = await recordPrompt(deps, job, 'plan', prompt)
  if (isFirst) await beginPlanning(deps, job, line)
  else await appendLine(deps, job, line)
  const earlier = isFirst ? undefined : deps.conversations.get(session.id)
  return {
    prompt: text,
    resume: earlier !== undefined && CONVERSATION.test(earlier) ? earlier : null,
  }
}

interface PlanningPlace {
  prepared: PreparedPrompt
  run: RunFolder
  folders: PlanFolders
  sandbox: Sandbox
}

async function planInSandbox(
  deps: SessionDeps,
  job: Job,
  planning: AgentPlanning,
  place: PlanningPlace,
): Promise<PlanResult> {
  const { sandbox, folders } = place
  await appendLine(deps, job, sandboxLine('plan', sandbox))
  // changes to case files are not part of the comparison below, so the run guard watches them
  if (sandbox.kind === 'none') await deps.runGuard.begin(job)
  const places = await rememberRunFolders(deps, planning.request.workdir)
  try {
    const [outcome] = await Promise.allSettled([runPlanner(deps, job, planning, place)])
    await killRun(job)
    await deps.runGuard.end(job.session_id)
    planning.request.signal.throwIfAborted()
    await mustBeInPlace(deps, job, await places.replaced())
    await mustBeUnchanged(deps, job, folders, sandbox)
    if (outcome.status === 'rejected') throw outcome.reason
    return outcome.value
  } finally {
    await places.close()
  }
}

async function runPlanner(
  deps: SessionDeps,
  job: Job,
  { provider, request, settings }: AgentPlanning,
  { prepared, run, folders, sandbox }: PlanningPlace,
): Promise<PlanResult> {
  await mustTrustCopy(deps, { provider, request }, folders.copy)
  const { env } = stepEnvironment(deps.environment, job, settings, provider.spec?.env)
  const report = openRunReport(deps, job)
  const restartFresh = async () => {
    await killRun(job)
    return run.inner(`files-${deps.newId()}`)
  }
  try {
    const folder = await run.inner('files')
    const own = {
      newId: deps.newId(),
      env,
      folder,
      sandbox,
      report,
      timeoutMs: settings.timeout.plan,
      retriesMs: settings.timeout.retries,
    }
    const { prompt, resume: session } = prepared
    const resume = session === null ? null : { session, restartFresh }
    const agent = { ...own, prompt, resume }
    return await provider.runner.plan({ ...request, workdir: folders.copy, agent })
  } finally {
    await report.close()
  }
}

/** Checked again just before the program starts: the files may have changed since the request. */
async function mustTrustCopy(
  { settings, layout }: SessionDeps,
  { provider: { id, spec }, request }: Pick<AgentPlanning, 'provider' | 'request'>,
  copy: string,
): Promise<void> {
  const place = { root: layout.root, folder: request.workdir }
  const why = spec && (await whyUntrustedCopy(spec, copy, place, (await settings()).files))
  if (why) throw new RunnerFailure(notStarted(id, why))
}

/** Must run before `mustBeUnchanged`, which cannot compare a folder that is gone. */
async function mustBeInPlace(deps: SessionDeps, job: Job, replaced: string[]): Promise<void> {
  const why = replacedReason(replaced)
  if (why === null) return
  await appendLine(deps, job, { event: 'plan_violation', fields: { replaced } })
  throw new RunnerFailure(`plan_violation: the agent should only have planned, but ${why}.`)
}

/**
 * A change in the copy is a violation. A change in a folder mounted read-only came from elsewhere and is only
 * recorded.
 */
async function mustBeUnchanged(
  deps: SessionDeps,
  job: Job,
  folders: PlanFolders,
  sandbox: Sandbox,
): Promise<void> {
  const inCopy = await folders.copyChanges()
  const inFolder = await folders.folderChanges()
  const isHeld = sandbox.kind === 'mount'
  if (inFolder.length > 0 && isHeld) {
    await appendLine(deps, job, { event: 'working_folder_changed', fields: { files: inFolder } })
  }
  const found = [
    ...inCopy.map((file) => `${file} (in its copy)`),
    ...(isHeld ? [] : inFolder.map((file) => `${file} (in the working folder)`)),
  ]
  if (found.length === 0) return
  const fields = {
    ...(inCopy.length > 0 ? { copy: inCopy } : {}),
    ...(isHeld || inFolder.length === 0 ? {} : { working_folder: inFolder }),
  }
  await appendLine(deps, job, { event: 'plan_violation', fields })
  throw new RunnerFailure(violation(found, !isHeld && inFolder.length > 0))
}

const SHOWN = 10

function violation(found: readonly string[], mayBeOwn: boolean): string {
  const more = found.length > SHOWN ? ` and ${found.length - SHOWN} more` : ''
  const own = mayBeOwn
    ? ' The working folder could not be mounted read-only here, so you or one of your programs may have made these changes.'
    : ''
  return `plan_violation: the agent should only have planned, but these files changed: ${found.slice(0, SHOWN).join(', ')}${more}.${own}`
}
