import { tmpdir } from 'node:os'
import { AppError } from '../model/app-error.ts'
import { OWN_PROVIDER } from '../model/settings.ts'
import type { AgentSpec, PlanModeStrength } from '../runners/agents/agent.ts'
import { type AgentVersion, agentVersion } from '../runners/agents/agent-version.ts'
import type { Runner } from '../runners/contract.ts'
import { findProgram, whyNotFound } from '../runners/process/find-program.ts'
import type { SessionDeps } from './deps.ts'
import { stepEnvironment } from './environment.ts'
import { listProviders, type Provider } from './providers.ts'

/** What is known about a provider before it is used. */
export interface ProviderStatus {
  id: string
  kind: Runner['kind']
  title: string
  /** Whether its program is installed. An untrusted provider may still not be run. */
  available: boolean
  path: string | null
  version: string | null
  /** A known problem of the installed version. */
  warning: string | null
  plan_mode: { holds: PlanModeStrength['holds'] | 'runs_nothing'; note: string }
  source: Provider['source']
  trusted: boolean
  /** How to install the program; empty if it is installed. */
  advice: string
}

type StatusDeps = Pick<SessionDeps, 'environment' | 'layout' | 'settings'>

const RUNBOOK: Omit<ProviderStatus, 'source' | 'trusted'> = {
  id: OWN_PROVIDER,
  kind: 'runbook',
  title: 'Runbook',
  available: true,
  path: null,
  version: null,
  warning: null,
  advice: '',
  plan_mode: { holds: 'runs_nothing', note: 'It plans by reading files, and runs nothing.' },
}

/** The status of every provider, in list order. */
export async function allStatuses(deps: StatusDeps): Promise<ProviderStatus[]> {
  const providers = listProviders(await deps.settings())
  return Promise.all(providers.map((provider) => providerStatus(deps, provider)))
}

/** Finds the program, and asks a trusted one for its version. */
export async function providerStatus(
  deps: StatusDeps,
  { id, source, trusted, runner, spec }: Provider,
): Promise<ProviderStatus> {
  if (spec === null) return { ...RUNBOOK, source, trusted }
  const { environment, layout } = deps
  const path = await findProgram(spec.program, { path: environment.PATH, cwd: layout.root })
  const ids = { runId: '', case_id: '', session_id: '' }
  const { env } = stepEnvironment(environment, ids, await deps.settings(), spec.env)
  // do not run it in the workspace, whose files may be settings of the program
  const found: AgentVersion =
    path !== null && trusted
      ? await agentVersion(spec, { path, cwd: tmpdir(), env })
      : { version: null }
  return {
    id,
    kind: runner.kind,
    title: spec.title,
    available: path !== null,
    path,
    version: found.version,
    warning: found.warning ?? null,
    plan_mode: spec.planMode,
    source,
    trusted,
    advice: path === null ? adviceFor(spec) : '',
  }
}

/** Throws if the provider's program is not installed, before a session is created that could only fail. */
export async function mustBeInstalled(
  { environment, redactor }: Pick<SessionDeps, 'environment' | 'redactor'>,
  { id, spec }: Provider,
  workdir: string,
): Promise<void> {
  if (spec === null) return
  const { program, install } = spec
  const where = { path: environment.PATH, cwd: workdir }
  if ((await findProgram(program, where)) !== null) return
  const place = program.includes('/') ? 'in the working folder' : 'on the PATH of the service'
  const isThere = (await whyNotFound(program, where)) === 'EACCES'
  const why = isThere ? `is ${place}, but is not executable` : `was not found ${place}`
  const message = `The provider ${id} cannot be started: its program "${program}" ${why}. ${howToGet(install)}. Or choose another provider: casefile doctor lists those that are installed.`
  throw new AppError('provider_unavailable', redactor.text(message))
}

function adviceFor({ program, install }: AgentSpec): string {
  return `${program} is not on the PATH. ${howToGet(install)}`
}

function howToGet(install: string): string {
  return install === ''
    ? 'Correct its command in casefile.md, or install it'
    : `Install it: ${install}`
}
