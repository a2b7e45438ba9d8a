import { tmpdir } from 'node:os'
import { AppError } from '../model/app-error.ts'
import { OWN_PROVIDER, type ProviderSettings, SETTINGS_FILE } from '../model/settings.ts'
import { needsTrust } from '../model/trust.ts'
import { acpRunner } from '../runners/acp/acp.ts'
import { type AcpSpec, acpSpec } from '../runners/acp/acp-spec.ts'
import type { AgentSpec, CommandSpec, PlanModeStrength } from '../runners/agents/agent.ts'
import { type AgentVersion, agentVersion } from '../runners/agents/agent-version.ts'
import { isLoggedIn } from '../runners/agents/login.ts'
import { KNOWN_AGENTS } from '../runners/agents/registry.ts'
import { commandRunner, customCommandSpec } from '../runners/command/command-runner.ts'
import type { Runner } from '../runners/contract.ts'
import { findProgram, whyNotFound } from '../runners/process/find-program.ts'
import { runbook } from '../runners/runbook.ts'
import type { TrustedSettings } from '../settings/trusted-settings.ts'
import type { SessionDeps } from './deps.ts'
import { stepEnvironment } from './environment.ts'

/** A provider that a session can run with. */
export interface Provider {
  id: string
  source: 'built-in' | 'casefile.md'
  /** The agent it runs; null for the runbook, which runs none. */
  spec: CommandSpec | AcpSpec | null
  /** Whether it may be used. Providers defined in casefile.md must be trusted first. */
  trusted: boolean
  runner: Runner
}

/** All providers: the runbook first, then by name. A definition in casefile.md replaces a built-in of that name. */
export function listProviders(settings: TrustedSettings): Provider[] {
  const defined = [...settings.providers].flatMap(([name, provider]) => {
    const made = definedProvider(name, provider, settings)
    return made ? [made] : []
  })
  const hidden = new Set([...settings.providers.keys(), ...settings.faulty])
  const rest = BUILT_IN.filter(({ id }) => !hidden.has(id))
  return [OWN, ...[...rest, ...defined].sort((a, b) => (a.id < b.id ? -1 : 1))]
}

/**
 * The provider with this name, as given in a request, a case, a session's file or casefile.md. Throws
 * `untrusted_provider` if casefile.md defines it and the operator does not trust it.
 */
export function providerOf(name: string, settings: TrustedSettings): Provider {
  if (name === OWN_PROVIDER) return OWN
  if (settings.faulty.includes(name)) throw faulty(name)
  const defined = settings.providers.get(name)
  const provider = defined
    ? definedProvider(name, defined, settings)
    : BUILT_IN.find(({ id }) => id === name)
  if (!provider) throw defined ? noPreset(name, defined) : unknown(name)
  if (!provider.trusted) throw untrusted(name, defined!, settings)
  return provider
}

const OWN: Provider = {
  id: OWN_PROVIDER,
  source: 'built-in',
  spec: null,
  trusted: true,
  runner: runbook,
}

const BUILT_IN: readonly Provider[] = KNOWN_AGENTS.map((spec) => ({
  id: spec.id,
  source: 'built-in',
  spec,
  trusted: true,
  runner: commandRunner(spec),
}))

/** Null if it names a preset that does not exist. */
function definedProvider(
  id: string,
  provider: ProviderSettings,
  { trust }: TrustedSettings,
): Provider | null {
  const found = agentOf(id, provider)
  if (!found) return null
  const trusted = !needsTrust(provider) || trust === 'trusted'
  return { id, source: 'casefile.md', trusted, ...found }
}

function agentOf(id: string, provider: ProviderSettings): Pick<Provider, 'spec' | 'runner'> | null {
  switch (provider.kind) {
    case 'command': {
      const spec = customCommandSpec(id, provider)
      return { spec, runner: commandRunner(spec) }
    }
    case 'acp': {
      const spec = acpSpec(id, provider)
      return { spec, runner: acpRunner(spec) }
    }
    case 'preset': {
      const spec = KNOWN_AGENTS.find((each) => each.id === provider.preset)
      return spec ? { spec, runner: commandRunner(spec, provider.args) } : null
    }
  }
}

function untrusted(name: string, provider: ProviderSettings, { trust }: TrustedSettings): AppError {
  const why =
    trust === 'changed' ? 'has changed since it was trusted' : 'must be trusted before it can run'
  return new AppError(
    'untrusted_provider',
    `${SETTINGS_FILE} defines the provider "${name}" (${commandOf(provider)}), which comes with the workspace's files and ${why}. Review and trust it with: casefile doctor --trust. Or use ${OWN_PROVIDER}.`,
  )
}

function noPreset(name: string, provider: ProviderSettings): AppError {
  const preset = provider.kind === 'preset' ? provider.preset : ''
  const use = replacementFor(preset) ?? `The presets are ${presetNames()}.`
  return notKnown(
    name,
    `The provider "${name}" of ${SETTINGS_FILE} uses the preset "${preset}", which does not exist. ${use}`,
  )
}

function faulty(name: string): AppError {
  return new AppError(
    'untrusted_provider',
    `${SETTINGS_FILE} defines the provider "${name}" incorrectly, so it is ignored. GET /health says what is wrong. Correct it, then trust it with: casefile doctor --trust. Or use ${OWN_PROVIDER}.`,
  )
}

function unknown(name: string): AppError {
  return notKnown(name, [`There is no provider "${name}".`, replacementFor(name)].join(' ').trim())
}

/** The known agents spoke the Agent Client Protocol too, under names of their own. */
function replacementFor(name: string): string | null {
  const id = /^(claude|claude-agent|codex|gemini|opencode|copilot)-acp$/.exec(name)?.[1]
  const use = id?.replace('-agent', '')
  return use ? `Use "${use}": Casefile runs this agent by its command only.` : null
}

function notKnown(name: string, message: string): AppError {
  const expected = `expected ${OWN_PROVIDER}, ${presetNames()}, or one that ${SETTINGS_FILE} defines`
  return new AppError('unknown_provider', message, {
    errors: [{ path: 'provider', message: `got "${name}", ${expected}` }],
  })
}

function presetNames(): string {
  return BUILT_IN.map(({ id }) => id).join(', ')
}

/** Words that contain spaces are shown as JSON strings. */
function commandOf(provider: ProviderSettings): string {
  switch (provider.kind) {
    case 'command':
      return `command ${JSON.stringify(provider.plan)}`
    case 'acp':
      return `acp ${JSON.stringify(provider.command)}`
    case 'preset':
      return `preset ${provider.preset} ${JSON.stringify(provider.args)}`
  }
}

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
  /** Whether its user is logged in; null if it needs no login, or is not asked because it may not run. */
  login: LoginStatus | null
  plan_mode: { holds: PlanModeStrength['holds'] | 'runs_nothing'; note: string }
  source: Provider['source']
  trusted: boolean
  /** How to install the program; empty if it is installed. */
  advice: string
}

export const LOGIN_STATUSES = ['logged_in', 'not_logged_in', 'unknown'] as const
export type LoginStatus = (typeof LOGIN_STATUSES)[number]

type StatusDeps = Pick<SessionDeps, 'environment' | 'layout' | 'settings'>

const RUNBOOK: Omit<ProviderStatus, 'source' | 'trusted'> = {
  id: OWN_PROVIDER,
  kind: 'runbook',
  title: 'Runbook',
  available: true,
  path: null,
  version: null,
  warning: null,
  login: null,
  advice: '',
  plan_mode: { holds: 'runs_nothing', note: 'It plans by reading files, and runs nothing.' },
}

/** The status of every provider, in list order. */
export async function allStatuses(deps: StatusDeps): Promise<ProviderStatus[]> {
  const providers = listProviders(await deps.settings())
  const logins: Logins = new Map()
  return Promise.all(providers.map((provider) => providerStatus(deps, provider, logins)))
}

/** A preset has the login of its agent: it is asked once. */
type Logins = Map<AgentSpec['login'], Promise<LoginStatus>>

/** Finds the program, and asks a trusted one for its version, and with `logins` for its login. */
export async function providerStatus(
  deps: StatusDeps,
  { id, source, trusted, runner, spec }: Provider,
  logins: Logins | null = null,
): Promise<ProviderStatus> {
  if (spec === null) return { ...RUNBOOK, source, trusted }
  const { environment, layout } = deps
  const path = await findProgram(spec.program, { path: environment.PATH, cwd: layout.root })
  const ids = { runId: '', case_id: '', session_id: '' }
  const { env } = stepEnvironment(environment, ids, await deps.settings(), spec.env)
  // do not run it in the workspace, whose files may be settings of the program
  const isAsked = path !== null && trusted
  const [found, login]: [AgentVersion, LoginStatus | null] = isAsked
    ? await Promise.all([
        agentVersion(spec, { path, cwd: tmpdir(), env }),
        logins && loginStatus(spec, env, logins),
      ])
    : [{ version: null }, null]
  return {
    id,
    kind: runner.kind,
    title: spec.title,
    available: path !== null,
    path,
    version: found.version,
    warning: found.warning ?? null,
    login,
    plan_mode: spec.planMode,
    source,
    trusted,
    advice: path === null ? adviceFor(spec) : '',
  }
}

async function loginStatus(
  { login }: AgentSpec,
  env: Record<string, string>,
  logins: Logins,
): Promise<LoginStatus | null> {
  if (login === null) return null
  const known = logins.get(login)
  if (known) return known
  const asked = isLoggedIn(login, env).then((is): LoginStatus => {
    if (is === null) return 'unknown'
    return is ? 'logged_in' : 'not_logged_in'
  })
  logins.set(login, asked)
  return asked
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

/**
 * Throws if the provider's user is known to be logged out, before a session is created that could only fail. Arguments
 * in casefile.md may choose another account or model, so that is then not known.
 */
export async function mustBeLoggedIn(
  { environment, redactor, settings }: Pick<SessionDeps, 'environment' | 'redactor' | 'settings'>,
  { id, source, spec }: Provider,
): Promise<void> {
  if (source !== 'built-in' || !spec?.login) return
  const ids = { runId: '', case_id: '', session_id: '' }
  const { env } = stepEnvironment(environment, ids, await settings(), spec.env)
  if ((await isLoggedIn(spec.login, env)) !== false) return
  const message = `${spec.title} is not logged in, so the provider ${id} cannot plan. Log in with: ${spec.login.command}. Or choose another provider: casefile doctor says which are logged in.`
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

/** What people call a provider; null for the runbook. */
export function titleOfProvider(id: string, settings: TrustedSettings): string | null {
  const found = listProviders(settings).find((provider) => provider.id === id)
  return found?.spec ? found.spec.title : id === OWN_PROVIDER ? null : id
}
