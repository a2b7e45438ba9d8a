/** Lets the programs of a run reach only the hosts that casefile.md names, by sandbox-runtime. */

import { AppError } from '../model/app-error.ts'
import { SETTINGS_FILE } from '../model/settings.ts'
import type { Sandbox } from '../runners/enclosure/sandbox.ts'
import {
  findRuntime,
  INSTALL_RUNTIME,
  missingText,
  openRuntime,
  RUNTIME,
  type RuntimeFolders,
  type SandboxRuntime,
} from '../runners/process/sandbox-runtime.ts'
import type { TrustedSettings } from '../settings/trusted-settings.ts'
import type { SessionDeps } from './deps.ts'

type HostDeps = Pick<SessionDeps, 'layout' | 'environment'>
export type HeldSettings = Pick<TrustedSettings, 'sandbox'>

/** What the network of a run leads to; null if it is as the operator has it. */
export interface Reach {
  hosts: readonly string[]
  /** The version of sandbox-runtime. */
  runtime: string
}

/** The hosts that a run may reach; null for all. */
export function hostsOf({ sandbox }: HeldSettings): readonly string[] | null {
  return typeof sandbox === 'object' ? sandbox.hosts : null
}

/** Throws `provider_unavailable` if casefile.md limits the hosts, and what does that is not installed. */
export async function mustHaveRuntime(deps: HostDeps, settings: HeldSettings): Promise<void> {
  if (hostsOf(settings) !== null) await runtimeFor(deps)
}

async function runtimeFor({ layout, environment }: HostDeps): Promise<SandboxRuntime> {
  const runtime = await findRuntime({ root: layout.root, path: environment.PATH })
  if (runtime === null) {
    throw refused(`${RUNTIME} is not installed. Install it: ${INSTALL_RUNTIME}`)
  }
  if (runtime.missing.length === 0) return runtime
  throw refused(`${RUNTIME} lacks programs. Install them: ${missingText(runtime.missing)}`)
}

function refused(why: string): AppError {
  return new AppError(
    'provider_unavailable',
    `${SETTINGS_FILE} lets runs reach only some hosts (sandbox: hosts), so nothing runs without that: ${why}. casefile doctor checks it.`,
  )
}

interface HostScene {
  settings: HeldSettings
  /** What may be written to and is not seen, where no mounts hold; null if only the network is to be closed. */
  folders: RuntimeFolders | null
  signal: AbortSignal
}

/**
 * Puts the wall around the network into a sandbox. Where there are no mounts (on macOS), it is one against writing too.
 * Throws `provider_unavailable` if it cannot hold: a run must not start without it.
 */
export async function withHosts(
  deps: HostDeps,
  sandbox: Sandbox,
  { settings, folders, signal }: HostScene,
): Promise<{ sandbox: Sandbox; reach: Reach | null }> {
  const hosts = hostsOf(settings)
  if (hosts === null) return { sandbox, reach: null }
  const runtime = await runtimeFor(deps)
  const { PATH = '', HOME = '', TMPDIR } = deps.environment
  const env = { PATH, HOME, ...(TMPDIR === undefined ? {} : { TMPDIR }) }
  const wall = { hosts, folders: sandbox.kind === 'mount' ? null : folders }
  const opened = await openRuntime(sandbox, runtime, wall, { env, signal })
  if ('sandbox' in opened) {
    return { sandbox: opened.sandbox, reach: { hosts, runtime: runtime.version } }
  }
  const node = runtime.wantsNode === null ? '' : ` (it asks for Node ${runtime.wantsNode})`
  throw refused(`${RUNTIME} ${runtime.version} cannot be used: ${opened.wrong}${node}`)
}
