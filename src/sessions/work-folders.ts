/** Which paths the programs of a run may write to, and which they do not see, in mounts (docs/agents.md). */

import { homedir } from 'node:os'
import { isAbsolute, resolve } from 'node:path'
import { createDurable, makeFolder } from '../files/durable-write.ts'
import { codeOf } from '../files/errno.ts'
import { existingPaths, isWithin } from '../files/real-path.ts'
import type { RunWritable } from '../files/service-program.ts'
import { listIndex, tracks } from '../git/index-list.ts'
import { findRepositoryFolders, repositoryFolders } from '../git/repository-folders.ts'
import { OWN_FOLDER } from '../package-files.ts'
import { PROC_FOLDER } from '../platform/proc.ts'
import type { AgentHomePaths } from '../runners/agents/agent-home-paths.ts'
import { KNOWN_AGENTS } from '../runners/agents/registry.ts'
import type { SandboxFolders, SandboxView } from '../runners/process/sandbox-plan.ts'
import { allStateFolders } from '../state/state-folder.ts'
import { findProtectedPaths } from './git-protected-paths.ts'

export interface WorkFolderNeeds {
  root: string
  memoryRoot: string
  stateRoot: string
  workdir: string
  /** The worktree of an isolated session with its repository, and that of the user, which it must not write to. */
  isolated: { open: readonly string[]; closed: readonly string[] } | null
  /** See `RunScene`; null for work. */
  planning: { layer: string | null } | null
  runFolder: string
  environment: NodeJS.ProcessEnv
  /** As in casefile.md; null for the usual caches. */
  cache: readonly string[] | null
  hide: readonly string[]
  /** What the agent that is started needs of the home folder; null for steps. */
  agent: AgentHomePaths | null
  /** What other agents need, which is not shown. */
  others: readonly AgentHomePaths[]
  views?: readonly SandboxView[]
}

export interface WorkFolders {
  folders: SandboxFolders
  /** For people: what the programs may write to, and what they do not see. Without paths of this machine. */
  writes: string[]
  hides: string[]
}

/**
 * Download caches of the usual tools, without which they would fail or fetch everything again. Not what is executed from
 * there later, such as the `_npx` of npm.
 */
const CACHES = [
  '.cache',
  '.npm/_cacache',
  '.npm/_logs',
  '.cargo/registry',
  '.cargo/git',
  'go/pkg',
  '.m2/repository',
  '.gradle/caches',
  '.local/share/pnpm/store',
]
/** Programs that are started later, in caches that are open as a whole. */
const PROGRAM_CACHES = [
  'npx',
  'pnpm/dlx',
  'uv/archive-v0',
  'uv/environments-v2',
  'pre-commit',
  'node/corepack',
  'pipx',
  'bazelisk',
  'ms-playwright',
  'puppeteer',
  'electron',
].map((name) => `.cache/${name}`)
const SECRETS = ['.ssh', '.aws', '.config/gh', '.gnupg']
const TEMPORARY = ['/tmp', '/var/tmp', '/dev/shm']
/** Not files of the disk: processes, terminals, message queues. */
const OF_THE_SYSTEM = [PROC_FOLDER, '/dev/pts', '/dev/mqueue']
/** What root could change the system by. */
const OF_ROOT = ['sys', 'sysrq-trigger', 'irq', 'bus', 'fs', 'acpi'].map(
  (name) => `${PROC_FOLDER}/${name}`,
)

/** What the programs expect to make themselves: the agent's places, and caches that casefile.md names. */
export async function makeAgentFolders({
  agent,
  cache,
  root,
  environment,
}: AgentFolderNeeds): Promise<void> {
  const home = homeOf(environment)
  const files = new Set(agent?.files)
  for (const path of [...(agent?.paths ?? []), ...(cache ?? [])]) {
    const whole = wholePath(path, { home, base: root })
    const made = files.has(path)
      ? createDurable(whole, Buffer.from('{}\n'), { mode: 0o600 })
      : makeFolder(whole, 0o700)
    await made.catch(unreachable) // it exists, or the program is to say why it cannot
  }
}

/** Where any run may write. */
export async function writableForRuns({
  root,
  environment,
}: Pick<WorkFolderNeeds, 'root' | 'environment'>): Promise<RunWritable> {
  const own = KNOWN_AGENTS.flatMap(({ ownPlaces }) => ownPlaces?.(environment).paths ?? [])
  const scope = { home: homeOf(environment), base: root }
  return {
    places: await namedPaths(['.', ...CACHES.map((path) => `~/${path}`), ...own], scope),
    temporary: await namedPaths(temporaryOf(environment), scope),
  }
}

function temporaryOf({ TMPDIR }: NodeJS.ProcessEnv): string[] {
  return [...TEMPORARY, ...(TMPDIR ? [TMPDIR] : [])]
}

type AgentFolderNeeds = Pick<WorkFolderNeeds, 'agent' | 'cache' | 'root' | 'environment'>

/** The caches that casefile.md names and that do not exist yet: a run makes them first. */
export async function cachesToMake({
  cache,
  root,
  environment,
}: Pick<WorkFolderNeeds, 'cache' | 'root' | 'environment'>): Promise<string[]> {
  const scope = { home: homeOf(environment), base: root }
  const found = await Promise.all((cache ?? []).map((path) => namedPaths([path], scope)))
  return (cache ?? []).filter((_, index) => found[index]?.length === 0)
}

/** Everything is read-only but what is named here. */
export async function workFolders(places: WorkFolderNeeds): Promise<WorkFolders> {
  const {
    workdir,
    isolated,
    planning,
    runFolder,
    stateRoot,
    memoryRoot,
    environment,
    agent,
    views = [],
  } = places
  const home = homeOf(environment)
  const named = (paths: readonly string[]) => namedPaths(paths, { home, base: places.root })

  const caches =
    places.cache === null
      ? await named(CACHES.map((path) => `~/${path}`))
      : await named(places.cache)
  const own = agent === null ? [] : await named(agent.paths)
  const kept = new Set([...caches, ...own, ...(await named(agent?.seen ?? []))])
  const hide = (await named(places.hide)).filter((path) => path !== workdir)
  const secrets = await named(SECRETS.map((path) => `~/${path}`))
  const runtime = environment.XDG_RUNTIME_DIR
  const services = runtime && isAbsolute(runtime) ? await named([runtime]) : []
  const others = await named(places.others.flatMap(({ paths }) => paths))
  const repository = planning ? [] : await repositoryOf(workdir)
  const protectedPaths = isolated || planning ? [] : await findProtectedPaths(workdir)
  const unplanned = planning ? [workdir, places.root, ...(await repositoryFolders(workdir))] : []
  const layer = planning?.layer ?? null
  const programs = await named([OWN_FOLDER, ...PROGRAM_CACHES.map((path) => `~/${path}`)])
  const isTracked = await isTrackedBy(workdir, memoryRoot)
  const temporary = await named(temporaryOf(environment))
  const withheld = [...secrets, ...services, ...others].filter((path) => !kept.has(path))
  const isRoot = process.geteuid?.() === 0
  const record = isTracked ? [] : [memoryRoot]
  const states = await named(await allStateFolders(stateRoot, environment))

  return {
    folders: {
      readOnly: [
        '/',
        home,
        memoryRoot,
        ...(isolated?.closed ?? []),
        ...protectedPaths,
        // inside of the overlay they can be changed like the rest
        ...unplanned.filter((path) => layer === null || !isWithin(workdir, path)),
        ...programs.filter((path) => !isWithin(path, workdir)),
        ...(isRoot ? OF_ROOT : []),
      ].filter((path) => !record.includes(path) && (layer === null || path !== workdir)),
      hidden: [...states, ...record, ...withheld, ...hide, ...(layer === null ? [] : [layer])],
      open: [
        ...(planning ? [] : [workdir]),
        ...(isolated?.open ?? []),
        ...repository,
        ...temporary,
        ...OF_THE_SYSTEM,
        ...caches,
        ...own,
        runFolder,
      ],
      views,
      overlay: layer === null ? null : { at: workdir, layer },
    },
    writes: [
      ...(planning ? [] : isolated ? ['its worktree'] : ['the working folder']),
      ...(repository.length > 0 && !isolated ? ['the .git of its repository'] : []),
      'temporary folders',
      ...namesOf([...caches, ...own], home),
    ],
    hides: [
      ...(isTracked ? [] : ['the memory root']),
      ...namesOf(
        withheld.filter((path) => !services.includes(path)),
        home,
      ),
      ...(withheld.some((path) => services.includes(path)) ? ['services of your login'] : []),
      ...places.hide,
    ],
  }
}

function homeOf({ HOME }: NodeJS.ProcessEnv): string {
  return HOME && isAbsolute(HOME) ? HOME : homedir()
}

function wholePath(path: string, { home, base }: { home: string; base: string }): string {
  return resolve(base, path.replace(/^~(?=\/|$)/, home))
}

/** The real paths of those that exist. `~` is the home folder; other relative ones are in the workspace. */
async function namedPaths(
  paths: readonly string[],
  { home, base }: { home: string; base: string },
): Promise<string[]> {
  const whole = paths.map((path) => wholePath(path, { home, base }))
  const found = await Promise.all(whole.map((path) => existingPaths([path]).catch(unreachable)))
  return [...new Set(found.flat())]
}

/** What this user cannot reach needs no protection from this user. */
function unreachable(error: unknown): string[] {
  if (codeOf(error) === '') throw error
  return []
}

/** Without the path of this home folder. */
function namesOf(paths: readonly string[], home: string): string[] {
  return paths.map((path) => (isWithin(home, path) ? `~/${path.slice(home.length + 1)}` : path))
}

/** The git folders of a working folder that lie outside of it. */
async function repositoryOf(workdir: string): Promise<string[]> {
  const found = await findRepositoryFolders(workdir)
  if (found === null) return []
  const folders = await existingPaths([found.gitDir, found.common])
  return folders.filter((path) => !isWithin(workdir, path))
}

/** Whether the repository of the folder tracks files below a path, also if git cannot say; then git must see them. */
async function isTrackedBy(workdir: string, path: string): Promise<boolean> {
  const found = await findRepositoryFolders(workdir)
  if (found === null || !isWithin(found.top, path)) return false
  const index = await listIndex(found, { timeoutMs: 10_000 }).catch(() => null)
  return index === null || tracks(index, path)
}
