import { plainText } from '../files/plain-text.ts'
import { sha256 } from '../markdown/session-file.ts'
import { AppError } from '../model/app-error.ts'
import { sessionOf } from '../model/case-folder.ts'
import { endRun, type RunEnd } from '../model/decide-session.ts'
import { MAX_PLAN_BYTES } from '../model/session.ts'
import type { NewTrailLine } from '../model/trail.ts'
import { abortable } from '../runners/agents/timeouts.ts'
import { type PlanResult, RunnerFailure } from '../runners/contract.ts'
import { hypothesisOf } from '../runners/runbook-plan.ts'
import type { TrustedSettings } from '../workspace/settings/trusted-settings.ts'
import { workingFolder } from '../workspace/workdir.ts'
import { planWithAgent } from './agent-planning.ts'
import { beginPlanning } from './begin-planning.ts'
import { memoryOf } from './context.ts'
import type { SessionDeps } from './deps.ts'
import { boundedOutput, planOutput } from './evidence.ts'
import { endingActor, type Job } from './jobs.ts'
import type { Provider } from './providers.ts'
import { updateWithRetry } from './update-with-retry.ts'

/** Plan mode: loads the context, has the runner write hypothesis and plan, then waits for approval. */
export async function plan(
  deps: SessionDeps,
  job: Job,
  provider: Provider,
  note?: string,
): Promise<void> {
  const { store, now } = deps
  const { case_id, session_id } = job
  const settings = await deps.settings()
  const limit = AbortSignal.timeout(settings.timeout.plan)
  const signal = AbortSignal.any([job.signal, limit])
  let outcome: { result: PlanResult } | { reason: string }
  try {
    const written = await planned(deps, job, { provider, settings, note, signal })
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
  if ('result' in outcome && stopped === null) await deps.plans.store(outcome.result.plan)
  const result = 'result' in outcome && stopped === null ? outcome.result : null
  const isAbandoned = job.ending === 'abandon'
  const end: RunEnd = {
    mode: 'plan',
    state: isAbandoned ? 'abandoned' : result ? 'plan_ready' : 'failed',
    reason: isAbandoned ? job.reason : (stopped ?? undefined),
    ...(result && !isAbandoned ? { results: writtenLines(result), texts: result } : {}),
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
}

async function planned(deps: SessionDeps, job: Job, planning: Planning): Promise<PlanResult> {
  const { provider, settings, note, signal } = planning
  const folder = await deps.store.read(job.case_id)
  const workdir = await workingFolder(deps.layout.root, folder.case.workdir, settings.folders)
  const memory = await memoryOf(deps, folder)
  const { steps } = settings
  const request = { case: folder.case, memory, steps, workdir, note, signal, agent: null }
  if (!provider.runner.capabilities.isAgent) {
    const files = inOrder([...memory.keys()])
    const line: NewTrailLine = { event: 'context_loaded', fields: { files } }
    if (sessionOf(folder, job.session_id).state === 'created') await beginPlanning(deps, job, line)
    return abortable(signal, provider.runner.plan(request))
  }
  const agents = planWithAgent(deps, job, { provider, request, settings, folder })
  const result = await abortable(signal, agents, AGENT_ENDS_MS)
  const hypothesis = result.hypothesis || (await hypothesisOf(folder.case))
  return { ...result, hypothesis }
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

/**
 * How long to wait for an agent to stop: cancel, SIGTERM, SIGKILL, and cleanup. After that planning ends without
 * it.
 */
const AGENT_ENDS_MS = 20_000

/** What an agent printed, followed by why planning failed. */
async function planOutputOf(
  { store, layout }: SessionDeps,
  { case_id, session_id, number, ending }: Job,
  why: string,
): Promise<string> {
  const { trail } = sessionOf(await store.read(case_id), session_id)
  const printed = await planOutput(layout, case_id, number, trail)
  return boundedOutput(number, [printed, ending === 'abandon' ? '' : why])
}

function stackOf(error: unknown): string {
  return String((error as Error)?.stack ?? error)
}

function mustFit(name: string, text: string): void {
  const bytes = Buffer.byteLength(text)
  if (bytes <= MAX_PLAN_BYTES) return
  throw new AppError('too_large', `The ${name} has ${bytes} bytes, more than the limit of 256 KiB.`)
}

function writtenLines({ hypothesis, plan }: PlanResult): NewTrailLine[] {
  return [
    { event: 'hypothesis_written', fields: { sha256: sha256(hypothesis) } },
    { event: 'plan_written', fields: { sha256: sha256(plan) } },
  ]
}

function stopReason(job: Job): string | null {
  if (job.ending === 'stop') return 'The service was stopped while the session was planning.'
  if (job.ending === 'time_out')
    return 'Planning reached its time limit (timeout.plan in casefile.md).'
  return null
}
