import { isBreaking } from '../model/problem.ts'
import type { RemovedRestriction, Restrictions } from '../model/restrictions.ts'
import type { NotifyTarget, ProviderSettings, SandboxSetting } from '../model/settings.ts'
import type { StandingIntent } from '../model/standing.ts'
import { remoteTargets, widerSettings } from '../model/trust.ts'
import { allAgentFiles, type ReadFile } from '../sessions/start-checks.ts'
import { isTrustedFile } from '../settings/agent-files.ts'
import { type TrustedSettings, trustHash } from '../settings/trusted-settings.ts'
import type { WorkspaceFolders } from '../settings/workspace-folders.ts'
import { layoutOf } from '../workspace/layout.ts'
import { type OutsideFolder, workingFolders } from './outside-folders.ts'

/** Everything that needs the operator's trust to take effect, as it is in the files now. */
export interface Offer {
  providers: ReadonlyMap<string, ProviderSettings>
  env: readonly string[]
  /** Where notifications are sent. */
  notify: readonly NotifyTarget[]
  /** Folders that runs may write to; undefined for the usual ones. */
  cache?: readonly string[]
  /** Undefined if runs are held back by mounts alone. */
  sandbox?: Exclude<SandboxSetting, 'mounts'>
  /** Tools, and first words of commands, that pass the gate before a plan is approved. */
  readingTools?: readonly string[]
  readingCommands?: readonly string[]
  standing?: readonly StandingIntent[]
  folders: OutsideFolder[]
  /** Agent files in the working folders. An unreadable file cannot be trusted. */
  files: ReadFile[]
  /** What casefile.md no longer restricts. */
  removed: readonly RemovedRestriction[]
  /** What it restricts now. */
  restrictions: Restrictions
  /** The hash of the settings that need trust; null if none does. */
  hash: string | null
  /** Whether everything is trusted already. */
  isTrusted: boolean
}

type OfferFolders = Pick<WorkspaceFolders, 'root' | 'memoryRoot' | 'trust'>

/** Null if nothing needs trust. */
export async function offerOf(
  places: OfferFolders,
  present: TrustedSettings,
): Promise<Offer | null> {
  const { file: settings } = present
  // a file that cannot be read removes nothing
  const { removed, restrictions } = settings.problems.some(isBreaking)
    ? { removed: [], restrictions: present }
    : { removed: present.removed, restrictions: settings }
  const { inside, outside } = await workingFolders(layoutOf(places.root, places.memoryRoot))
  const files = await filesIn(places.root, [...inside, ...outside.map(({ folder }) => folder)])
  const hash = trustHash(settings)
  if (hash === null && removed.length === 0 && outside.length === 0 && files.length === 0)
    return null
  const trusted = await places.trust.read()
  const isTrusted =
    (hash === null || hash === trusted.settings) &&
    removed.length === 0 &&
    outside.every(({ folder }) => trusted.folders.includes(folder)) &&
    files.every((file) => file.content === null || isTrustedFile(file, trusted.files))
  const { providers, env } = settings
  return {
    providers: hash === null ? new Map() : providers,
    env: hash === null ? [] : env,
    notify: remoteTargets(settings),
    ...widerSettings(settings),
    folders: outside,
    files,
    removed,
    restrictions,
    hash,
    isTrusted,
  }
}

/** Trusts exactly what the offer shows, even if the files have changed since. */
export async function accept(
  places: OfferFolders,
  { hash, folders, files, restrictions }: Offer,
): Promise<void> {
  const trusted = {
    settings: hash,
    restrictions,
    folders: folders.map(({ folder }) => folder),
    files: new Map(files.flatMap(({ path, content }) => (content ? [[path, content.sha256]] : []))),
  }
  await places.trust.write(trusted, new Date().toISOString())
}

async function filesIn(root: string, folders: readonly string[]): Promise<ReadFile[]> {
  const found = new Map<string, ReadFile>()
  for (const folder of folders) {
    for (const file of await allAgentFiles({ root, folder })) found.set(file.path, file)
  }
  return [...found.values()].sort((a, b) => (a.path < b.path ? -1 : 1))
}
