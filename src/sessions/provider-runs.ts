import { plainText } from '../files/plain-text.ts'
import { AppError, stoppingError } from '../model/app-error.ts'
import { newCase } from '../model/decide-case.ts'
import { OWN_PROVIDER } from '../model/settings.ts'
import { type PlanResult, RunnerFailure, type RunReport } from '../runners/contract.ts'
import type { Sandbox } from '../runners/enclosure/sandbox.ts'
import { openRunFolder, type RunFolder } from '../runners/output/run-folder.ts'
import { killRun } from '../runners/process/kill-run.ts'
import {
  type IdentifiedRun,
  type RunProcess,
  runProcess,
} from '../runners/process/run-processes.ts'
import type { TrustedSettings } from '../settings/trusted-settings.ts'
import type { SessionDeps } from './deps.ts'
import { stepEnvironment } from './environment.ts'
import { createLiveOutput } from './live-output.ts'
import {
  allStatuses,
  listProviders,
  type Provider,
  type ProviderStatus,
  providerOf,
  providerStatus,
} from './providers.ts'
import type { Redactor } from './redaction.ts'
import { runSandbox } from './walls.ts'

/** The maximum number of runs at the same time; each is an agent with all its processes. */
const MOST_AT_ONCE = 2

interface ProviderResult extends PlanResult {
  provider: string
  /** Hypothesis and plan as one text. */
  text: string
}

/** `GET /providers` and, with `--dev`, `POST /providers/:id/run`. */
export interface Providers {
  statuses(): Promise<ProviderStatus[]>
  /**
   * Runs a prompt in the provider's plan mode, in an empty folder, without a session. Nothing is stored. Throws if
   * the provider cannot run; resolves once it is running.
   */
  begin(id: string, prompt: string, run: ProviderRun): Promise<{ result: Promise<ProviderResult> }>
  /** The running agents, so that their own requests to the service can be recognized. */
  runs(): IdentifiedRun[]
  /** Stops all runs. */
  close(): Promise<void>
}

interface ProviderRun {
  /** Abort it to stop the run. */
  signal: AbortSignal
  onOutput: OutputListener
}

interface Active {
  /** Also the value of CASEFILE_RUN. */
  runId: string
  processes: RunProcess[]
  folderId: string
  ended: Promise<unknown>
}

type RunDeps = Omit<SessionDeps, 'store' | 'catalog' | 'outputs' | 'sessionTexts' | 'runGuard'>

export function createProviders(deps: RunDeps): Providers {
  const active = new Set<Active>()
  const stop = new AbortController()

  async function resultOf(run: Active, runRequest: RunRequest): Promise<ProviderResult> {
    const { provider, settings, signal: clientSignal } = runRequest
    const limit = AbortSignal.timeout(settings.timeout.plan)
    const signal = AbortSignal.any([clientSignal, stop.signal, limit])
    try {
      const { hypothesis, plan } = await runPrompt(deps, run, { ...runRequest, signal })
      const text = hypothesis === '' ? plan : `## Hypothesis\n\n${hypothesis}\n\n## Plan\n\n${plan}`
      return { provider: provider.id, text, hypothesis, plan }
    } catch (error) {
      if (stop.signal.aborted) throw stoppingError()
      if (clientSignal.aborted) throw failed(provider, 'the client disconnected', error)
      if (limit.aborted)
        throw failed(provider, 'it reached its time limit (timeout.plan in casefile.md)', error)
      if (error instanceof RunnerFailure) throw failed(provider, clean(deps, error.message), error)
      throw error
    } finally {
      active.delete(run)
    }
  }

  return {
    statuses: async () => (await allStatuses(deps)).map((status) => redactStatus(deps, status)),
    async begin(id, prompt, run) {
      const settings = await deps.settings()
      const provider = await runnable(deps, id, settings)
      if (stop.signal.aborted) throw stoppingError()
      if (active.size >= MOST_AT_ONCE) throw tooMany()
      const runId = deps.newId()
      const entry: Active = { runId, folderId: runId, processes: [], ended: Promise.resolve() }
      active.add(entry)
      const result = resultOf(entry, { ...run, provider, settings, prompt })
      entry.ended = Promise.allSettled([result])
      return { result }
    },
    runs: () => [...active],
    async close() {
      stop.abort()
      await Promise.all([...active].map(({ ended }) => ended))
    },
  }
}

interface RunRequest extends ProviderRun {
  provider: Provider
  settings: TrustedSettings
  prompt: string
}

async function runPrompt(deps: RunDeps, run: Active, runRequest: RunRequest): Promise<PlanResult> {
  const { redactor, runs } = deps
  const { runId } = run
  // it belongs to no session, so the next start only ends its processes
  await runs.write({ session_id: runId, case_id: runId, number: 1, mark: runId })
  const folder = await openRunFolder(deps.state.scratch, `provider-${runId}`)
  const report = openOutputReport(redactor, runRequest.onOutput, (pid) => {
    run.processes.push(runProcess(pid))
  })
  let sandbox: Sandbox | null = null
  try {
    const request = await planRequestFor(deps, runRequest, { runId, folder })
    sandbox = request.agent.sandbox
    const agent = { ...request.agent, report }
    const { hypothesis, plan } = await runRequest.provider.runner.plan({ ...request, agent })
    return { hypothesis: clean(deps, hypothesis), plan: clean(deps, plan) }
  } finally {
    report.end()
    await killRun(run, deps.limits.endRun)
    await sandbox?.end()
    await folder.close()
    await runs.remove(runId)
  }
}

/** The plan request that a session would make, without a case. */
async function planRequestFor(
  deps: RunDeps,
  { provider, settings, prompt, signal }: RunRequest,
  { runId, folder }: { runId: string; folder: RunFolder },
) {
  const ids = { runId, case_id: runId, session_id: runId }
  const given = stepEnvironment(deps.environment, ids, settings, provider.spec?.env)
  const { CASEFILE_CASE: _, CASEFILE_SESSION: __, ...env } = given.env
  const { root } = deps.layout
  const files = await folder.inner('files')
  const workdir = await folder.inner('project')
  const { sandbox } = await runSandbox(deps, {
    workdir: root,
    run: folder,
    settings,
    agent: provider.spec,
    isolated: null,
    planning: { layer: null },
    signal,
  })
  const agent = {
    prompt,
    newId: deps.newId(),
    resume: null,
    env,
    folder: files,
    sandbox,
    retriesMs: settings.timeout.retries,
    limits: deps.limits,
  }
  return {
    case: newCase({ title: 'A prompt without a case' }, runId, deps.now()),
    memory: new Map<string, string>(),
    steps: [],
    signal,
    agent,
    workdir,
  }
}

async function runnable(deps: RunDeps, id: string, settings: TrustedSettings): Promise<Provider> {
  if (id === OWN_PROVIDER) {
    const why =
      'The runbook takes no prompt: it makes plans from the files of a case. Start a session on a case instead.'
    throw new AppError('provider_unavailable', why)
  }
  const isKnown =
    settings.faulty.includes(id) || listProviders(settings).some((each) => each.id === id)
  if (!isKnown) {
    const name = JSON.stringify(id.slice(0, 80).toWellFormed())
    throw new AppError('not_found', `There is no provider ${name}. GET /providers lists them.`)
  }
  const provider = providerOf(id, settings)
  const { available, advice } = await providerStatus(deps, provider)
  if (!available) throw new AppError('provider_unavailable', deps.redactor.text(advice))
  return provider
}

/** Makes an agent's text safe to show. */
function clean({ redactor }: Pick<RunDeps, 'redactor'>, text: string): string {
  return redactor.text(plainText(text))
}

/** Removes secrets from what the program and casefile.md say about a provider. */
function redactStatus(
  { redactor }: Pick<RunDeps, 'redactor'>,
  status: ProviderStatus,
): ProviderStatus {
  const orNull = (text: string | null) => (text === null ? null : redactor.text(text))
  const { title, path, version, warning, advice } = status
  const texts = { path: orNull(path), version: orNull(version), warning: orNull(warning) }
  return { ...status, ...texts, title: redactor.text(title), advice: redactor.text(advice) }
}

function tooMany(): AppError {
  return new AppError(
    'already_active',
    `${MOST_AT_ONCE} providers are running, the maximum at the same time. Wait until one finishes, or cancel its request.`,
  )
}

function failed({ id }: Provider, reason: string, cause: unknown): AppError {
  return new AppError(
    'provider_failed',
    `The provider ${id} returned no result: ${reason.replace(/\.$/, '')}.`,
    { cause },
  )
}

type OutputListener = (stream: 'stdout' | 'stderr', text: string) => void

/** A run report for a run without a session: it passes the redacted output to `onOutput` and stores nothing. */
function openOutputReport(
  redactor: Redactor,
  onOutput: OutputListener,
  onProcess: (pid: number) => void,
): RunReport & { end(): void } {
  const live = createLiveOutput(onOutput, 'no record; wait for the result')
  const streams = { stdout: redactor.stream(), stderr: redactor.stream() }
  return {
    processStarted: onProcess,
    output: (stream, bytes) => void live.write(stream, streams[stream].write(bytes)),
    raw() {},
    clean: (text) => redactor.text(text),
    async stepStarted() {},
    async stepFinished() {},
    async note() {},
    end() {
      live.write('stdout', streams.stdout.end())
      live.write('stderr', streams.stderr.end())
      live.end()
    },
  }
}
