import { isWithin } from '../files/real-path.ts'
import { type RememberedFolders, rememberFolders } from '../files/remembered-folders.ts'
import { closeToPrograms } from '../files/service-program.ts'
import { SETTINGS_FILE } from '../model/settings.ts'
import type { NewTrailLine } from '../model/trail.ts'
import type { AgentSpec } from '../runners/agents/agent.ts'
import { KNOWN_AGENTS } from '../runners/agents/registry.ts'
import { makeDeviceFolder } from '../runners/output/device-folder.ts'
import type { RunFolder } from '../runners/output/run-folder.ts'
import {
  openSandbox,
  type Preference,
  type Processes,
  type Sandbox,
} from '../runners/process/sandbox.ts'
import type { SandboxView } from '../runners/process/sandbox-plan.ts'
import type { TrustedSettings } from '../settings/trusted-settings.ts'
import { repositoryFolders } from '../snapshots/repository-state.ts'
import { allStateFolders } from '../state/state-folder.ts'
import type { SessionDeps } from './deps.ts'
import { makeProtectedPaths } from './git-protected-paths.ts'
import { hostsOf, mustHaveRuntime, type Reach, withHosts } from './hosts.ts'
import type { IsolatedWork } from './isolation.ts'
import {
  cachesToMake,
  makePlaces,
  type WorkFolders,
  type WorkPlaces,
  workFolders,
} from './work-folders.ts'

type SandboxDeps = Pick<SessionDeps, 'layout' | 'state' | 'environment' | 'mount'>

export interface Scene {
  workdir: string
  /** The run's own folder, which its programs may write to. */
  runFolder: string
  signal: AbortSignal
  /** Of a session in a separate worktree. */
  isolated?: Pick<IsolatedWork, 'open' | 'closed'> | null
}

/** The sandbox for planning: the workspace, the working folder and its repository are read-only. */
export async function planSandbox(deps: SandboxDeps, scene: Scene): Promise<Sandbox> {
  const { root, memoryRoot } = deps.layout
  const repository = await repositoryFolders(scene.workdir)
  return sandboxFor(
    deps,
    scene,
    outermost([root, memoryRoot, scene.workdir, ...repository]),
    'isolation',
  )
}

export interface WorkScene {
  workdir: string
  run: RunFolder
  settings: Pick<TrustedSettings, 'hide' | 'cache' | 'sandbox'>
  /** The agent that is started; null for steps. */
  agent: AgentSpec | null
  /** Folders that are shown in place of others. */
  views?: readonly SandboxView[]
  /** Of a session in a separate worktree. */
  isolated: Pick<IsolatedWork, 'open' | 'closed'> | null
  signal: AbortSignal
}

/** What limits the programs of a run. */
export interface Walls {
  sandbox: Sandbox
  /** What they may write to, and do not see; null if only the case files are protected, or nothing is. */
  places: { writes: string[]; hides: string[] } | null
  /** What they can reach on the network; null if it is as the operator has it. */
  reach: Reach | null
}

/**
 * The sandbox for work: only the working folder and what is needed beside it can be written to. Where that does not
 * work, the case files are read-only. Throws `provider_unavailable` if casefile.md limits the hosts and that does not
 * hold.
 */
export async function workSandbox(deps: SandboxDeps, scene: WorkScene): Promise<Walls> {
  const { settings, signal } = scene
  await mustHaveRuntime(deps, settings)
  const { sandbox, places, planned } = await mountWalls(deps, scene)
  const folders = planned && {
    writable: planned.folders.open,
    readOnly: [deps.layout.memoryRoot],
    hidden: planned.folders.hidden,
  }
  const held = await withHosts(deps, sandbox, { settings, folders, signal })
  const isHeld = held.reach !== null && planned !== null
  const { writes = [], hides = [] } = planned ?? {}
  return { ...held, places: isHeld ? { writes, hides } : places }
}

/** What will limit the programs of a run, as far as that is known before it starts. */
export interface ExpectedWalls {
  guard: 'mount' | 'comparison'
  /** Why there are no mounts; null with them. */
  reason: string | null
  /** What they can write to, and do not see; null if only the case files are protected, or nothing is. */
  places: { writes: string[]; hides: string[] } | null
  /** What they can reach on the network; null if it is as the operator has it. */
  hosts: readonly string[] | null
}

export interface ExpectedScene extends Pick<WorkScene, 'workdir' | 'settings' | 'agent'> {
  isIsolated: boolean
  /** Why mounts do not work on this machine; null if they do. */
  noMounts: string | null
}

/** Makes and starts nothing. */
export async function expectedWalls(
  deps: SandboxDeps,
  { workdir, settings, agent, isIsolated, noMounts }: ExpectedScene,
): Promise<ExpectedWalls> {
  const isolated = isIsolated ? { open: [], closed: [] } : null
  const scene = { workdir, runFolder: deps.state.scratch, isolated }
  const hosts = hostsOf(settings)
  const around = placesFor(deps, { ...scene, agent, settings })
  const { writes, hides } = await workFolders(around)
  const places = { writes: [...writes, ...(await cachesToMake(around))], hides }
  const reason = whyUnheld(deps, { ...scene, settings }) ?? noMounts
  if (reason === null) return { guard: 'mount', reason, places, hosts }
  return { guard: 'comparison', reason, places: hosts === null ? null : places, hosts }
}

/** Whether mounts work on this machine: tries it out with the case files. Null if they do, else why not. */
export async function whyNoMounts(deps: SandboxDeps): Promise<string | null> {
  const { memoryRoot } = deps.layout
  const folders = { readOnly: [memoryRoot], hidden: [deps.state.root], open: [] }
  const sandbox = await openSandbox(folders, undefined, 'powers', 'own')
  if (sandbox.kind === 'none') return sandbox.reason
  await sandbox.end()
  return null
}

/** Why casefile.md or the places of the folders leave no room for mounts; null if they can be tried. */
function whyUnheld(
  deps: SandboxDeps,
  scene: Pick<Scene, 'workdir' | 'isolated'> & Pick<WorkScene, 'settings'>,
): string | null {
  const { memoryRoot } = deps.layout
  if (scene.settings.sandbox === 'none') return `${SETTINGS_FILE} says so (sandbox: none)`
  if (isWithin(memoryRoot, scene.workdir)) return 'the working folder lies within the memory root'
  return whyNot(deps, scene, [memoryRoot])
}

interface MountWalls extends Pick<Walls, 'sandbox' | 'places'> {
  /** What would hold if mounts did. */
  planned: WorkFolders | null
}

async function mountWalls(deps: SandboxDeps, scene: WorkScene): Promise<MountWalls> {
  const { memoryRoot } = deps.layout
  const { workdir, run, signal } = scene
  const none = (reason: string): MountWalls => ({
    sandbox: { kind: 'none', reason },
    places: null,
    planned: null,
  })
  const why = whyUnheld(deps, scene)
  if (why !== null) return none(why)
  const { isolated } = scene
  const around = { workdir, runFolder: run.path, signal, isolated }
  const planned = await foldersFor(deps, scene)
  const { folders, writes, hides } = planned
  closeToPrograms(folders.open)
  // sandbox-runtime has to mount something itself, which root without that power could not
  const prefer = typeof scene.settings.sandbox === 'object' ? 'isolation' : 'powers'
  const sandbox = await openSandbox(folders, signal, prefer, 'own')
  if (sandbox.kind === 'mount') return { sandbox, places: { writes, hides }, planned: null }
  // it is about all mounts of this machine; a separate one may work
  const narrow = scene.views?.length
    ? sandbox
    : await sandboxFor(
        deps,
        around,
        outermost([memoryRoot, ...(isolated?.closed ?? [])]),
        prefer,
        'own',
      )
  return { sandbox: narrow, places: null, planned: narrow.kind === 'mount' ? null : planned }
}

async function foldersFor(
  deps: SandboxDeps,
  { workdir, run, agent, views = [], isolated, settings }: WorkScene,
) {
  const places = placesFor(deps, { workdir, runFolder: run.path, agent, isolated, settings })
  await makePlaces(places)
  if (!isolated) await makeProtectedPaths(workdir)
  const devices =
    process.geteuid?.() === 0
      ? await makeDeviceFolder(await run.inner(agent ? 'agent-dev' : 'dev'))
      : []
  return workFolders({ ...places, views: [...views, ...devices] })
}

function placesFor(
  { layout, state, environment }: SandboxDeps,
  {
    settings: { cache, hide },
    ...scene
  }: Pick<WorkScene, 'workdir' | 'agent' | 'isolated' | 'settings'> & { runFolder: string },
): WorkPlaces {
  const own = scene.agent?.ownPlaces ?? null
  const all = new Set(KNOWN_AGENTS.map(({ ownPlaces }) => ownPlaces))
  const others = [...all].filter((find) => find !== null && find !== own)
  return {
    ...scene,
    root: layout.root,
    memoryRoot: layout.memoryRoot,
    stateRoot: state.root,
    environment,
    cache,
    hide,
    agent: own?.(environment) ?? null,
    others: others.map((find) => find!(environment)),
  }
}

/** Folders that a run must not move or replace, because records would then be written elsewhere. */
export function rememberRunFolders(
  { layout, state }: Pick<SessionDeps, 'layout' | 'state'>,
  workdir: string,
): Promise<RememberedFolders> {
  return rememberFolders({
    'the workspace': layout.root,
    'the memory root': layout.memoryRoot,
    'the working folder': workdir,
    'the state folder': state.root,
  })
}

/** A clause about replaced folders; null if there are none. */
export function replacedReason(replaced: readonly string[]): string | null {
  if (replaced.length === 0) return null
  const were = replaced.length === 1 ? 'was' : 'were'
  return `${replaced.join(', ')} ${were} moved away or replaced by something else during the run`
}

/** The audit trail's line that says which protection a run has. */
export function sandboxLine(
  mode: 'plan' | 'work',
  sandbox: Sandbox,
  { places, reach }: Pick<Walls, 'places' | 'reach'> = { places: null, reach: null },
): NewTrailLine {
  const walls = { ...places, ...(reach && { hosts: [...reach.hosts], runtime: reach.runtime }) }
  if (sandbox.kind === 'mount') {
    return { event: 'guarded', fields: { mode, guard: 'mount', ...walls } }
  }
  const { reason } = sandbox
  return { event: 'guarded', fields: { mode, guard: 'comparison', reason, ...walls } }
}

async function sandboxFor(
  deps: SandboxDeps,
  scene: Scene,
  readOnly: string[],
  prefer: Preference,
  processes: Processes = 'shared',
): Promise<Sandbox> {
  const reason = whyNot(deps, scene, readOnly)
  if (reason !== null) return { kind: 'none', reason }
  const hidden = await allStateFolders(deps.state.root, deps.environment)
  const folders = { readOnly, hidden, open: [scene.runFolder, ...(scene.isolated?.open ?? [])] }
  return openSandbox(folders, scene.signal, prefer, processes)
}

/** Why nothing can be mounted; null if it can be tried. */
function whyNot(
  deps: SandboxDeps,
  scene: Pick<Scene, 'workdir' | 'isolated'>,
  readOnly: readonly string[],
): string | null {
  if (!deps.mount) return 'mounts are turned off (--no-mount)'
  if (!scene.isolated && isWithin(deps.state.root, scene.workdir)) {
    return 'the working folder lies within the state folder'
  }
  const home = deps.environment.HOME
  const around = home && readOnly.find((folder) => isWithin(folder, home))
  // the agent stores its login and conversations in the home folder and could not start
  return around ? `the home folder lies within ${around}` : null
}

/** Only the folders that are not inside another one. */
function outermost(folders: readonly string[]): string[] {
  const all = [...new Set(folders)]
  return all.filter((folder) => !all.some((other) => other !== folder && isWithin(other, folder)))
}
