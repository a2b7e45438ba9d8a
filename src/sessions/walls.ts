import { isWithin } from '../files/real-path.ts'
import { type RememberedFolders, rememberFolders } from '../files/remembered-folders.ts'
import { closeToPrograms } from '../files/service-program.ts'
import { repositoryFolders } from '../git/repository-folders.ts'
import { SETTINGS_FILE } from '../model/settings.ts'
import { type NewTrailLine, newLine } from '../model/trail.ts'
import type { AgentSpec } from '../runners/agents/agent.ts'
import { KNOWN_AGENTS } from '../runners/agents/registry.ts'
import type { Preference } from '../runners/enclosure/mount-ways.ts'
import { noSandbox, openSandbox, type Sandbox } from '../runners/enclosure/sandbox.ts'
import { makeDeviceFolder } from '../runners/output/device-folder.ts'
import type { RunFolder } from '../runners/output/run-folder.ts'
import type { SandboxView } from '../runners/process/sandbox-plan.ts'
import type { TrustedSettings } from '../settings/trusted-settings.ts'
import { allStateFolders } from '../state/state-folder.ts'
import type { SessionDeps } from './deps.ts'
import { makeProtectedPaths } from './git-protected-paths.ts'
import { hostsOf, mustHaveRuntime, type Reach, withHosts } from './hosts.ts'
import type { IsolatedWork } from './isolation.ts'
import {
  cachesToMake,
  makeAgentFolders,
  type WorkFolderNeeds,
  type WorkFolders,
  workFolders,
} from './work-folders.ts'

type SandboxDeps = Pick<SessionDeps, 'layout' | 'state' | 'environment' | 'mount'>

export interface RunScene {
  workdir: string
  run: RunFolder
  settings: Pick<TrustedSettings, 'hide' | 'cache' | 'sandbox'>
  /** For planning: what is changed in the working folder gets there; null if nothing may be. */
  planning?: { layer: string | null }
  /** The agent that is started; null for steps. */
  agent: AgentSpec | null
  /** Folders that are shown in place of others. */
  views?: readonly SandboxView[]
  /** Of a session in a separate worktree. */
  isolated: Pick<IsolatedWork, 'open' | 'closed'> | null
  /** The environment of its programs, as far as it is known. */
  env?: Record<string, string>
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
 * The sandbox of a run: only the working folder and what is needed beside it can be written to; while planning, not even
 * that folder. Where that does not work, at least the case files are read-only, and what planning must not change.
 * Throws `provider_unavailable` if casefile.md limits the hosts and that does not hold.
 */
export async function runSandbox(deps: SandboxDeps, scene: RunScene): Promise<Walls> {
  const { settings, signal } = scene
  await mustHaveRuntime(deps, settings)
  const { sandbox, places, planned } = await mountWalls(deps, scene)
  const folders = planned && {
    writable: planned.folders.open,
    readOnly: [
      deps.layout.memoryRoot,
      ...(scene.planning ? [deps.layout.root, scene.workdir] : []),
    ],
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

export interface ExpectedScene extends Pick<RunScene, 'workdir' | 'settings' | 'agent'> {
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
  const sandbox = await openSandbox(folders, { prefer: 'powers' })
  if (sandbox.kind === 'none') return sandbox.reason
  await sandbox.end()
  return null
}

type Around = Pick<RunScene, 'workdir' | 'isolated' | 'settings' | 'planning'>

/** Why casefile.md or the places of the folders leave no room for mounts; null if they can be tried. */
function whyUnheld(deps: SandboxDeps, scene: Around): string | null {
  const { memoryRoot } = deps.layout
  if (isFree(scene) && !scene.planning) return `${SETTINGS_FILE} says so (sandbox: none)`
  if (isWithin(memoryRoot, scene.workdir)) return 'the working folder lies within the memory root'
  return whyNot(deps, scene, [memoryRoot])
}

interface MountWalls extends Pick<Walls, 'sandbox' | 'places'> {
  /** What would hold if mounts did. */
  planned: WorkFolders | null
}

async function mountWalls(deps: SandboxDeps, scene: RunScene): Promise<MountWalls> {
  const { env, signal } = scene
  const none = (reason: string): MountWalls => ({
    sandbox: noSandbox(reason),
    places: null,
    planned: null,
  })
  const why = whyUnheld(deps, scene)
  if (why !== null) return none(why)
  const planned = await foldersFor(deps, scene)
  const { folders, writes, hides } = planned
  closeToPrograms(folders.open)
  // sandbox-runtime has to mount something itself, which root without that power could not
  const prefer = typeof scene.settings.sandbox === 'object' ? 'isolation' : 'powers'
  if (!isFree(scene)) {
    const sandbox = await openSandbox(folders, { prefer, env, signal })
    if (sandbox.kind === 'mount') return { sandbox, places: { writes, hides }, planned: null }
    if (scene.views?.length) return { sandbox, places: null, planned }
  }
  // it is about all mounts of this machine; a separate one may work
  const narrow = await narrowSandbox(deps, scene, folders, prefer)
  return { sandbox: narrow, places: null, planned: narrow.kind === 'mount' ? null : planned }
}

/** Whether casefile.md frees approved work; planning never changes the working folder. */
function isFree({ settings }: Pick<RunScene, 'settings'>): boolean {
  return settings.sandbox === 'none'
}

async function foldersFor(deps: SandboxDeps, { run, views = [], ...scene }: RunScene) {
  const { workdir, agent, isolated, planning } = scene
  const places = placesFor(deps, { ...scene, runFolder: run.path })
  await makeAgentFolders(places)
  if (!isolated && !planning) await makeProtectedPaths(workdir)
  const devices =
    process.geteuid?.() === 0
      ? await makeDeviceFolder(await run.inner(agent ? 'agent-dev' : 'dev'))
      : []
  return workFolders({ ...places, views: [...views, ...devices] })
}

function placesFor(
  { layout, state, environment }: SandboxDeps,
  { settings: { cache, hide }, ...scene }: Around & Pick<RunScene, 'agent'> & { runFolder: string },
): WorkFolderNeeds {
  const own = scene.agent?.ownPlaces ?? null
  const all = new Set(KNOWN_AGENTS.map(({ ownPlaces }) => ownPlaces))
  const others = [...all].filter((find) => find !== null && find !== own)
  return {
    workdir: scene.workdir,
    isolated: scene.isolated,
    planning: scene.planning ?? null,
    runFolder: scene.runFolder,
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
  { sandbox, places, reach }: Walls,
  uncompared: string | null = null,
): NewTrailLine {
  const walls = { ...places, ...(reach && { hosts: [...reach.hosts], runtime: reach.runtime }) }
  if (sandbox.kind === 'mount') {
    const folder = mode === 'work' ? undefined : FOLDER[sandbox.overlay ?? 'none']
    return newLine('guarded', { mode, guard: 'mount', folder, ...walls })
  }
  const reason = uncompared === null ? sandbox.reason : `${sandbox.reason}; ${uncompared}`
  return newLine('guarded', { mode, guard: 'comparison', reason, ...walls })
}

const FOLDER = { disk: 'overlay', memory: 'overlay-in-memory', none: 'read-only' } as const

/** Protects only the case files, and what planning must not change. */
async function narrowSandbox(
  deps: SandboxDeps,
  scene: RunScene,
  { overlay = null }: WorkFolders['folders'],
  prefer: Preference,
): Promise<Sandbox> {
  const { layout, state, environment } = deps
  const { workdir, run, isolated, planning, env, signal } = scene
  const planned = planning ? [layout.root, workdir, ...(await repositoryFolders(workdir))] : []
  const closed = [layout.memoryRoot, ...planned, ...(isolated?.closed ?? [])]
  const reason = whyNot(deps, scene, closed)
  if (reason !== null) return noSandbox(reason)
  // inside of the overlay only the case files are closed
  const isClosed = (path: string) =>
    path === layout.memoryRoot || overlay === null || !isWithin(overlay.at, path)
  const states = await allStateFolders(state.root, environment)
  const folders = {
    readOnly: outermost(closed.filter(isClosed)),
    hidden: overlay === null ? states : [...states, overlay.layer],
    open: [run.path, ...(isolated?.open ?? [])],
    overlay,
  }
  return openSandbox(folders, { prefer, env, signal })
}

/** Why nothing can be mounted; null if it can be tried. */
function whyNot(
  deps: SandboxDeps,
  scene: Pick<RunScene, 'workdir' | 'isolated'>,
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
