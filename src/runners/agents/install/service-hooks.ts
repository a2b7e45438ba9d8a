import { timingSafeEqual } from 'node:crypto'
import { realPathOf } from '../../../files/real-path.ts'
import { findDotGit } from '../../../git/dot-git.ts'
import { CLIENT_SECRET, HOOK_FINDER, hookScript } from '../hooks/hook-script.ts'
import {
  announceToHooks,
  hookFiles,
  newSecrets,
  withdrawFromHooks,
  writeHookFinder,
  writeHookScript,
} from './hook-files.ts'

export interface HookFolders {
  /** The workspace. */
  root: string
  stateDir: string
  environment: NodeJS.ProcessEnv
}

/** An environment as a program gets it. */
export function setVariables(environment: NodeJS.ProcessEnv): Record<string, string> {
  const set = Object.entries(environment).filter(([, value]) => value !== undefined)
  return Object.fromEntries(set) as Record<string, string>
}

/** What a service tells the hooks of the agents that people run themselves. */
export interface ServiceHooks {
  /** Writes the script and the address that the hooks use. */
  announce(url: string): Promise<void>
  /** Call this before the port is free: another program may then listen there. */
  withdraw(): Promise<void>
  /** What shows a hook that sent this that the service answers; null for others, as they could answer later. */
  secretFor(sent: string | undefined): string | null
}

export function createServiceHooks(places: HookFolders, log: (line: string) => void): ServiceHooks {
  const logged = (work: Promise<void>) =>
    work.catch((error: unknown) => log(`hooks of agents: ${String(error)}`))
  const secrets = newSecrets()
  const expected = Buffer.from(secrets.client)
  return {
    secretFor(sent) {
      const bytes = Buffer.from(sent ?? '')
      const isHook = bytes.length === expected.length && timingSafeEqual(bytes, expected)
      return isHook ? secrets.server : null
    },
    announce: (url) =>
      logged(
        (async () => {
          await installHookScript(places)
          const { folder } = hookFiles(places.stateDir)
          const address = { url, pid: process.pid, secrets, header: CLIENT_SECRET }
          await announceToHooks(folder, address)
        })(),
      ),
    withdraw: () => logged(withdrawFromHooks(places.stateDir)),
  }
}

/** Writes the scripts, so that hooks deny with a reason even before the first start of a service. */
export async function installHookScript({
  root,
  stateDir,
  environment,
}: HookFolders): Promise<void> {
  const found = await findDotGit(root, () => null)
  const gitFolder = found && (await realPathOf(found.gitDir.replace(/\/worktrees\/[^/]+\/?$/, '')))
  await writeHookScript(stateDir, hookScript({ root, gitFolder }))
  await writeHookFinder({ root, gitFolder, stateDir }, HOOK_FINDER, environment)
}
