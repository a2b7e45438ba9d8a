import { plainText } from '../files/plain-text.ts'
import { readPlan } from '../markdown/plan-steps.ts'
import { sha256 } from '../markdown/session-file.ts'
import { firstOf } from '../model/amounts.ts'
import { AppError } from '../model/app-error.ts'
import type { Case } from '../model/case.ts'
import { type CaseContents, sessionOf } from '../model/case-contents.ts'
import { endRun, type RunEnd } from '../model/decide-session.ts'
import { MAX_PLAN_BYTES, sessionMove } from '../model/session.ts'
import type { Fields } from '../model/trail.ts'
import { abortable } from '../runners/agents/timeouts.ts'
import { type PlanRequest, type PlanResult, RunnerFailure } from '../runners/contract.ts'
import { openRunFolder, type RunFolder } from '../runners/output/run-folder.ts'
import { killRun } from '../runners/process/kill-run.ts'
import { statedHypothesis } from '../runners/runbook-plan.ts'
import type { TrustedSettings } from '../settings/trusted-settings.ts'
import { workingFolder } from '../settings/workdir.ts'
import { memoryOf, promptContext } from './context.ts'
import type { SessionDeps } from './deps.ts'
import { stepEnvironment } from './environment.ts'
import { planResults } from './evidence.ts'
import { endingActor, type Job, updateWithRetry } from './jobs.ts'
import { outputText } from './output-text.ts'
import { openPlanningSandbox, type PlanningSandbox } from './planning-sandbox.ts'
import { planPrompt, recordPrompt } from './prompt.ts'
import type { Provider } from './providers.ts'
import { appendLine, openRunReport } from './run-recorder.ts'
import { notStarted, whyUntrusted } from './start-checks.ts'
import { rememberRunFolders, replacedReason } from './walls.ts'

/** Plan mode: loads the context, has the runner write hypothesis and plan, then waits for approval. */
export async function plan(
  deps: SessionDeps,
  job: Job,
  provider: Provider,
  note?: string,
): Promise<void> {
  const { store, now } = deps
  const { case_id, session_id } = job
  const settings = await deps.settings.forRun()
  const limit = AbortSignal.timeout(settings.timeout.plan)
  const signal = AbortSignal.any([job.signal, limit])
  const planning: Planning = { provider, settings, note, signal }
  let outcome: { result: PlanResult } | { reason: string }
  try {
    const written = await planned(deps, job, planning)
    const result = provider.spec ? readable(deps, written) : written
    mustFit('hypothesis', result.hypothesis)
    mustFit('plan', result.plan)
    outcome = { result }
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    outcome = { reason: deps.redactor.text(plainText(why)) } // it may quote an agent's output
    const isTold = error instanceof AppError || error instanceof RunnerFailure
    const expected = isTold || job.signal.aborted || limit.aborted
    if (!expected) deps.log(`planning session ${job.number} of case ${case_id}: ${stackOf(error)}`)
  }
  if (limit.aborted) job.ending ??= 'time_out'
  const stopped = stopReason(job) ?? ('reason' in outcome ? outcome.reason : null)
  const output = stopped !== null && provider.spec ? await planOutputOf(deps, job, stopped) : ''
  // store before the state change is published, so that clients find the text
  if ('result' in outcome && stopped === null) deps.plans.add(outcome.result.plan)
  const result = 'result' in outcome && stopped === null ? outcome.result : null
  const made = result && (await hashesOf(result))
  const isAbandoned = job.ending === 'abandon'
  const end: RunEnd = {
    mode: 'plan',
    state: isAbandoned ? 'abandoned' : result ? 'plan_ready' : 'failed',
    reason: isAbandoned ? job.reason : (stopped ?? undefined),
    files: planning.files,
    ...(result && made && !isAbandoned ? { made, texts: result } : {}),
    ...(output ? { texts: { output } } : {}),
  }
  await updateWithRetry(store, job, (present) => [endRun(present, session_id, end, now())], {
    by: endingActor(job, provider.id),
  })
  job.planned = true
  deps.running.delete(session_id)
  await deps.runs.remove(session_id)
}

interface Planning {
  provider: Provider
  settings: TrustedSettings
  note: string | undefined
  signal: AbortSignal
  /** The files that a runbook was read with; they are recorded with the plan. */
  files?: readonly string[]
}

async function planned(deps: SessionDeps, job: Job, planning: Planning): Promise<PlanResult> {
  const { provider, settings, note, signal } = planning
  const contents = await deps.store.read(job.case_id)
  const workdir = await workingFolder(deps.layout.root, contents.case.workdir, settings.folders)
  const memory = await memoryOf(deps, contents)
  const { steps, tests } = settings
  const request = { case: contents.case, memory, steps, tests, workdir, note, signal, agent: null }
  if (!provider.runner.capabilities.isAgent) {
    planning.files = inOrder([...memory.keys()])
    return abortable(signal, provider.runner.plan(request))
  }
  const agents = planWithAgent(deps, job, { provider, request, settings, contents })
  const result = await abortable(signal, agents, deps.limits.endPlanning)
  const hypothesis = result.hypothesis || (await missingHypothesis(contents.case))
  return { ...result, hypothesis }
}

/** The hypothesis of a plan whose agent states none: the operator's own, from the description. */
export async function missingHypothesis({ description }: Pick<Case, 'description'>) {
  return (await statedHypothesis(description)) ?? 'No hypothesis: the agent stated none.'
}

/** Puts case.md first. */
function inOrder(names: string[]): string[] {
  return names.sort((a, b) => Number(b === 'case.md') - Number(a === 'case.md') || (a < b ? -1 : 1))
}

/** Bidirectional control characters, which can display a plan in another order than it runs. */
const BIDI = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

/** Makes an agent's text safe to show: without secrets, terminal escapes and bidirectional controls. */
function readable({ redactor }: SessionDeps, { hypothesis, plan }: PlanResult): PlanResult {
  const clean = (text: string) => redactor.text(plainText(text).replace(BIDI, ''))
  return { hypothesis: clean(hypothesis), plan: clean(plan) }
}

/** What an agent printed, followed by why planning failed. */
async function planOutputOf(
  { store, layout }: SessionDeps,
  { case_id, session_id, number, ending }: Job,
  why: string,
): Promise<string> {
  const { trail } = sessionOf(await store.read(case_id), session_id)
  const results = await planResults(layout, case_id, number, trail)
  return outputText({ results, notes: ending === 'abandon' ? [] : [why] })
}

function stackOf(error: unknown): string {
  return String((error as Error)?.stack ?? error)
}

function mustFit(name: string, text: string): void {
  const bytes = Buffer.byteLength(text)
  if (bytes <= MAX_PLAN_BYTES) return
  throw new AppError('too_large', `The ${name} has ${bytes} bytes, more than the limit of 256 KiB.`)
}

async function hashesOf({ hypothesis, plan }: PlanResult): Promise<Fields> {
  const { scopeErrors } = await readPlan(plan)
  return {
    hypothesis_sha256: sha256(hypothesis),
    plan_sha256: sha256(plan),
    scope_unreadable: scopeErrors[0],
  }
}

function stopReason(job: Job): string | null {
  if (job.ending === 'stop') return 'The service was stopped while the session was planning.'
  if (job.ending === 'time_out')
    return 'Planning reached its time limit (timeout.plan in casefile.md).'
  return null
}

interface AgentPlanning {
  provider: Provider
  request: PlanRequest
  settings: TrustedSettings
  contents: CaseContents
}

/**
 * Lets an agent plan behind the walls that it works behind. Any change it made in the working folder fails the planning:
 * its own plan mode is not trusted.
 */
async function planWithAgent(
  deps: SessionDeps,
  job: Job,
  planning: AgentPlanning,
): Promise<PlanResult> {
  const prepared = await preparePrompt(deps, job, planning)
  const run = await openRunFolder(deps.state.scratch, `plan-${job.session_id}`)
  try {
    const { request, settings, provider } = planning
    const { workdir, signal } = request
    const agent = provider.spec
    const place = await openPlanningSandbox(deps, { workdir, run, settings, agent, signal })
    try {
      return await planInPlace(deps, job, planning, { prepared, run, place })
    } finally {
      await place.close()
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
  { provider, request, settings, contents }: AgentPlanning,
): Promise<PreparedPrompt> {
  const session = sessionOf(contents, job.session_id)
  const { memory, note = '', workdir } = request
  const context = await promptContext(deps, contents, session, {
    memory,
    settings,
    workdir,
    provider,
  })
  const isFirst = session.state === 'created'
  const plan = isFirst ? null : (await deps.sessionTexts(contents.case.id, session)).plan
  const hasAsked = note !== '' || plan !== null
  const prompt = planPrompt(context, hasAsked ? { plan, note } : null)
  const { text, line } = await recordPrompt(deps, job, 'plan', prompt)
  if (isFirst) await beginPlanning(deps, job, line.fields)
  else await appendLine(deps, job, line)
  const earlier = isFirst ? undefined : deps.conversations.get(session.id)
  return {
    prompt: text,
    resume: earlier !== undefined && CONVERSATION.test(earlier) ? earlier : null,
  }
}

interface Prepared {
  prepared: PreparedPrompt
  run: RunFolder
  place: PlanningSandbox
}

async function planInPlace(
  deps: SessionDeps,
  job: Job,
  planning: AgentPlanning,
  prepared: Prepared,
): Promise<PlanResult> {
  const { place } = prepared
  await appendLine(deps, job, place.line)
  // changes to case files are not part of the comparison below, so the run guard watches them
  if (place.sandbox.kind === 'none') await deps.runGuard.begin(job)
  const folders = await rememberRunFolders(deps, planning.request.workdir)
  try {
    const [outcome] = await Promise.allSettled([runPlanner(deps, job, planning, prepared)])
    await killRun(job, deps.limits.endRun)
    await deps.runGuard.end(job.session_id)
    planning.request.signal.throwIfAborted()
    await mustBeInPlace(deps, job, await folders.replaced())
    await mustBeUnchanged(deps, job, place)
    if (outcome.status === 'rejected') throw outcome.reason
    return outcome.value
  } finally {
    await folders.close()
  }
}

async function runPlanner(
  deps: SessionDeps,
  job: Job,
  { provider, request, settings }: AgentPlanning,
  { prepared, run, place: { sandbox } }: Prepared,
): Promise<PlanResult> {
  await mustTrust(deps, provider, request.workdir)
  const { env } = stepEnvironment(deps.environment, job, settings, provider.spec?.env)
  const report = openRunReport(deps, job)
  const restartFresh = async () => {
    await killRun(job, deps.limits.endRun)
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
      limits: deps.limits,
    }
    const { prompt, resume: session } = prepared
    const resume = session === null ? null : { session, restartFresh }
    const agent = { ...own, prompt, resume }
    return await provider.runner.plan({ ...request, agent })
  } finally {
    await report.close()
  }
}

/** Checked again just before the program starts: the files may have changed since the request. */
async function mustTrust(
  { settings, layout }: SessionDeps,
  { id, spec }: Provider,
  folder: string,
): Promise<void> {
  const { files } = await settings()
  const why = spec && (await whyUntrusted(spec, { root: layout.root, folder }, files))
  if (why) throw new RunnerFailure(notStarted(id, why))
}

/** Must run before `mustBeUnchanged`, which cannot compare a folder that is gone. */
async function mustBeInPlace(deps: SessionDeps, job: Job, replaced: string[]): Promise<void> {
  const why = replacedReason(replaced)
  if (why === null) return
  await appendLine(deps, job, { event: 'plan_violation', fields: { replaced } })
  throw new RunnerFailure(`plan_violation: the agent should only have planned, but ${why}.`)
}

async function mustBeUnchanged(
  deps: SessionDeps,
  job: Job,
  { sandbox, changes }: PlanningSandbox,
): Promise<void> {
  const files = await changes()
  if (files.length === 0) return
  await appendLine(deps, job, { event: 'plan_violation', fields: { working_folder: files } })
  const what = sandbox.kind === 'mount' ? THROWN_AWAY : MAY_BE_OWN
  throw new RunnerFailure(
    `plan_violation: the agent should only have planned, but these files changed: ${firstOf(files, SHOWN)}. ${what}`,
  )
}

const SHOWN = 10

const THROWN_AWAY = 'Its changes were thrown away; the working folder is as it was.'
const MAY_BE_OWN =
  'Nothing could be mounted over the working folder here, so you or one of your programs may have made these changes.'

/** Moves a session from created to planning, once its context is loaded. */
export async function beginPlanning(
  { store, now }: SessionDeps,
  job: Job,
  act: Fields,
): Promise<void> {
  await updateWithRetry(store, job, (contents) => {
    const session = sessionOf(contents, job.session_id)
    const edit = sessionMove(session, { trigger: 'context_loaded', now: now(), act })
    return [{ file: 'session', number: session.number, edit }]
  })
}
