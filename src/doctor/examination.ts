import { randomUUID } from 'node:crypto'
import { runGit } from '../git/run-git.ts'
import { AppError } from '../model/app-error.ts'
import { SETTINGS_FILE, variablesIn } from '../model/settings.ts'
import {
  type HeardConversation,
  type LeveledReport,
  leveledReport,
} from '../runners/agents/install/levels.ts'
import { noSandbox, type Sandbox } from '../runners/enclosure/sandbox.ts'
import { openRunFolder } from '../runners/output/run-folder.ts'
import {
  findRuntime,
  INSTALL_RUNTIME,
  missingText,
  openRuntime,
} from '../runners/process/sandbox-runtime.ts'
import { hostsOf } from '../sessions/hosts.ts'
import { makeLayer } from '../sessions/planning-sandbox.ts'
import { allStatuses, type ProviderStatus, providerOf } from '../sessions/providers.ts'
import { agentFileProblems, findInstalledAgents, mustTrustFiles } from '../sessions/start-checks.ts'
import { runSandbox } from '../sessions/walls.ts'
import { type TrustedSettings, trustHash } from '../settings/trusted-settings.ts'
import type { WorkspaceFolders } from '../settings/workspace-folders.ts'
import { desktopTrouble } from '../webhooks/desktop.ts'
import { layoutOf } from '../workspace/layout.ts'

/** What is known about this machine and a workspace before any agent is started. */
export interface Examination {
  root: string
  memoryRoot: string
  state: string
  /** A short description of the settings' trust. */
  trust: string
  /** The same for project files that installed agents act on. */
  agentFiles: string
  /** Null if git is not installed. */
  git: string | null
  /** The sandbox that keeps an agent from writing while it plans. */
  sandbox: Sandbox
  /** Whether runs can be limited to some hosts. */
  runtime: string
  providers: ProviderStatus[]
  /** The hooks of the agents that people run themselves. */
  hooks: LeveledReport
  /** Where notifications go. */
  notify: string
  /** The default provider of new sessions. */
  standard: string
  /** Why the default provider cannot be used, as far as known; null if it can. */
  objection: string | null
}

export async function examine(
  places: WorkspaceFolders,
  environment: NodeJS.ProcessEnv,
  heard: readonly HeardConversation[],
): Promise<Examination> {
  const { root, memoryRoot, state } = places
  const settings = await places.settings()
  const layout = layoutOf(root, memoryRoot)
  const providers = await allStatuses({ ...places, environment, layout })
  return {
    root,
    memoryRoot,
    state: state.root,
    providers,
    trust: trustWords(settings),
    agentFiles: await agentFileWords(root, environment, settings),
    git: await gitVersion(root),
    sandbox: await sandboxFor(places, environment),
    runtime: await runtimeWords(places, settings, environment),
    hooks: await leveledReport({ root, stateDir: state.root, environment }, heard),
    notify: notifyWords(settings, environment),
    standard: settings.provider,
    objection: await findObjection(settings, providers, root),
  }
}

/** The sandbox in which an agent would plan in this workspace. */
async function sandboxFor(
  { root, memoryRoot, state }: WorkspaceFolders,
  environment: NodeJS.ProcessEnv,
): Promise<Sandbox> {
  const folder = await openRunFolder(state.scratch, `doctor-${randomUUID()}`)
  try {
    const needs = { layout: layoutOf(root, memoryRoot), state, environment, mount: true }
    const { signal } = new AbortController()
    const { sandbox } = await runSandbox(needs, {
      workdir: root,
      run: folder,
      settings: { hide: [], cache: null, sandbox: 'mounts' },
      agent: null,
      isolated: null,
      planning: { layer: await makeLayer(folder, root) },
      signal,
    })
    await sandbox.end()
    return sandbox
  } finally {
    await folder.close()
  }
}

/** Where sandbox-runtime is, what it lacks, and whether it works here; or what it would give. */
async function runtimeWords(
  { root }: WorkspaceFolders,
  settings: TrustedSettings,
  environment: NodeJS.ProcessEnv,
): Promise<string> {
  const { PATH = '', HOME = '' } = environment
  const found = await findRuntime({ root, path: PATH })
  const hosts = hostsOf(settings)
  const isWanted = hosts === null ? '' : '; casefile.md needs it, so nothing runs'
  if (found === null) {
    return `not installed${isWanted}. With it, runs reach only the hosts that you name (sandbox in docs/settings.md), and on macOS write only where they work: ${INSTALL_RUNTIME}`
  }
  const place = `${found.version}, ${found.script}`
  if (found.missing.length > 0) return `${place}; missing: ${missingText(found.missing)}${isWanted}`
  const { signal } = new AbortController()
  const options = { env: { PATH, HOME }, signal }
  const opened = await openRuntime(noSandbox(), found, { hosts: [], folders: null }, options)
  const node = found.wantsNode === null ? '' : `; it asks for Node ${found.wantsNode}`
  if ('wrong' in opened) return `${place}: ${opened.wrong}${node}${isWanted}`
  await opened.sandbox.end()
  return `works: ${place}${node}`
}

function trustWords(settings: TrustedSettings): string {
  const words = {
    trusted: trustHash(settings.file) === null ? 'asks for nothing that needs trust' : 'trusted',
    untrusted: 'not trusted; review it with: casefile doctor --trust',
    changed: 'changed since it was trusted; review it with: casefile doctor --trust',
  }
  const wrong = settings.problems.filter(({ code }) => code !== 'untrusted_settings').length
  const more =
    wrong === 0
      ? ''
      : ` (${wrong} ${wrong === 1 ? 'problem' : 'problems'} in it; casefile doctor --check lists them)`
  const { trust, removed } = settings
  return words[trust === 'trusted' && removed.length > 0 ? 'changed' : trust] + more
}

function notifyWords({ notify, trust }: TrustedSettings, environment: NodeJS.ProcessEnv): string {
  if (notify.length === 0) return 'nowhere; see notify in docs/settings.md'
  const words = notify.map(({ kind, url }) => {
    const missing = variablesIn(url).find((name) => !environment[name])
    const trouble = kind === 'desktop' ? desktopTrouble(environment) : null
    if (trouble !== null) return `${kind} (${trouble})`
    if (kind !== 'desktop' && trust !== 'trusted') return `${kind} (not trusted)`
    return missing === undefined ? kind : `${kind} (${missing} is not set here)`
  })
  return `${words.join(', ')}; try it with: casefile doctor --notify`
}

async function agentFileWords(
  root: string,
  environment: NodeJS.ProcessEnv,
  { files }: TrustedSettings,
): Promise<string> {
  const installedAgents = await findInstalledAgents(environment, root)
  const problems = await agentFileProblems(root, installedAgents, files)
  if (problems.length === 0) return 'none that need trust'
  const names = problems.map(({ file }) => file).join(', ')
  return `not trusted: ${names}; review them with: casefile doctor --trust`
}

async function gitVersion(cwd: string): Promise<string | null> {
  try {
    const { stdout } = await runGit(['--version'], { cwd, timeoutMs: 10_000 })
    return stdout
      .toString()
      .trim()
      .replace(/^git version /, '')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

async function findObjection(
  settings: TrustedSettings,
  providers: readonly ProviderStatus[],
  root: string,
): Promise<string | null> {
  try {
    const provider = providerOf(settings.provider, settings)
    await mustTrustFiles(provider, { root, folder: root }, settings.files)
  } catch (error) {
    if (error instanceof AppError) return `${SETTINGS_FILE}, provider: ${error.message}`
    throw error
  }
  const found = providers.find(({ id }) => id === settings.provider)
  return found && !found.available ? found.advice : null
}
