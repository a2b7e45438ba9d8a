import { isWithin } from '../files/real-path.ts'
import { type RememberedFolders, rememberFolders } from '../files/remembered-folders.ts'
import type { NewTrailLine } from '../model/trail.ts'
import { openSandbox, type Preference, type Sandbox } from '../runners/process/sandbox.ts'
import { repositoryFolders } from '../snapshots/repository-state.ts'
import type { SessionDeps } from './deps.ts'

type SandboxDeps = Pick<SessionDeps, 'layout' | 'state' | 'environment' | 'mount'>

export interface Scene {
  workdir: string
  /** The run's own folder, which its programs may write to. */
  runFolder: string
  signal: AbortSignal
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

/** The sandbox for work: the case files are read-only. */
export async function workSandbox(deps: SandboxDeps, scene: Scene): Promise<Sandbox> {
  const { memoryRoot } = deps.layout
  if (isWithin(memoryRoot, scene.workdir)) {
    return { kind: 'none', reason: 'the working folder lies within the memory root' }
  }
  return sandboxFor(deps, scene, [memoryRoot], 'powers')
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
export function sandboxLine(mode: 'plan' | 'work', sandbox: Sandbox): NewTrailLine {
  if (sandbox.kind === 'mount') return { event: 'guarded', fields: { mode, guard: 'mount' } }
  return { event: 'guarded', fields: { mode, guard: 'comparison', reason: sandbox.reason } }
}

async function sandboxFor(
  deps: SandboxDeps,
  scene: Scene,
  readOnly: string[],
  prefer: Preference,
): Promise<Sandbox> {
  if (!deps.mount) return { kind: 'none', reason: 'mounts are turned off (--no-mount)' }
  if (isWithin(deps.state.root, scene.workdir)) {
    return { kind: 'none', reason: 'the working folder lies within the state folder' }
  }
  const home = deps.environment.HOME
  const around = home && readOnly.find((folder) => isWithin(folder, home))
  // the agent stores its login and conversations in the home folder and could not start
  if (around) return { kind: 'none', reason: `the home folder lies within ${around}` }
  const hidden = [deps.state.root]
  return openSandbox({ readOnly, hidden, open: [scene.runFolder] }, scene.signal, prefer)
}

/** Only the folders that are not inside another one. */
function outermost(folders: readonly string[]): string[] {
  const all = [...new Set(folders)]
  return all.filter((folder) => !all.some((other) => other !== folder && isWithin(other, folder)))
}
