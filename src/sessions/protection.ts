import { isWithin } from '../files/real-path.ts'
import { type RememberedFolders, rememberFolders } from '../files/remembered-folders.ts'
import type { NewTrailLine } from '../model/trail.ts'
import { type Guard, openGuard, type Preference } from '../runners/process/guard.ts'
import { repositoryFolders } from '../snapshots/repository-state.ts'
import type { SessionDeps } from './deps.ts'

type ProtectionDeps = Pick<SessionDeps, 'layout' | 'state' | 'environment' | 'mount'>

export interface Scene {
  workdir: string
  /** The folder of the run, where its programs may write. */
  runFolder: string
  signal: AbortSignal
}

/** While an agent plans it can write nowhere in the workspace, the working folder and its repository. */
export async function planGuard(deps: ProtectionDeps, scene: Scene): Promise<Guard> {
  const { root, memoryRoot } = deps.layout
  const repository = await repositoryFolders(scene.workdir, scene.signal)
  return guardOf(
    deps,
    scene,
    outermost([root, memoryRoot, scene.workdir, ...repository]),
    'isolation',
  )
}

/** While a session works, its programs cannot write the records of the cases. */
export async function workGuard(deps: ProtectionDeps, scene: Scene): Promise<Guard> {
  const { memoryRoot } = deps.layout
  if (isWithin(memoryRoot, scene.workdir)) {
    return { kind: 'none', reason: 'the working folder lies within the memory root' }
  }
  return guardOf(deps, scene, [memoryRoot], 'powers')
}

/** What no run may put something else in the place of: the records would be written there. */
export function holdPlaces(
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

/** In a clause; null where all are the same. */
export function whyReplaced(replaced: readonly string[]): string | null {
  if (replaced.length === 0) return null
  const were = replaced.length === 1 ? 'was' : 'were'
  return `${replaced.join(', ')} ${were} moved away or replaced by something else during the run`
}

/** The trail's word for which guard holds in a run. */
export function guardLine(mode: 'plan' | 'work', guard: Guard): NewTrailLine {
  const fields =
    guard.kind === 'mount' ? { guard: 'mount' } : { guard: 'comparison', reason: guard.reason }
  return { event: 'guarded', fields: { mode, ...fields } }
}

async function guardOf(
  deps: ProtectionDeps,
  scene: Scene,
  readOnly: string[],
  prefer: Preference,
): Promise<Guard> {
  if (!deps.mount) return { kind: 'none', reason: 'mounts are switched off (--no-mount)' }
  if (isWithin(deps.state.root, scene.workdir)) {
    return { kind: 'none', reason: 'the working folder lies within the state folder' }
  }
  const home = deps.environment.HOME
  const around = home && readOnly.find((folder) => isWithin(folder, home))
  // an agent keeps its login and its conversations there, and could not even begin
  if (around) return { kind: 'none', reason: `the home folder lies within ${around}` }
  const hidden = [deps.state.root]
  return openGuard({ readOnly, hidden, open: [scene.runFolder] }, scene.signal, prefer)
}

/** Without those that lie within another one. */
function outermost(folders: readonly string[]): string[] {
  const all = [...new Set(folders)]
  return all.filter((folder) => !all.some((other) => other !== folder && isWithin(other, folder)))
}
