import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { existingPaths, mountPoints } from '../../files/mount-points.ts'
import { findProgram } from './find-program.ts'
import { MOUNT_SCRIPT, PROBE_SCRIPT, planMounts, type SandboxFolders } from './sandbox-mounts.ts'
import { shareMounts } from './shared-mounts.ts'

/** A sandbox: it keeps the processes of a run from writing to protected folders. */
export type Sandbox =
  | {
      kind: 'mount'
      /** The command that starts `argv` with the folders mounted. The program must be an absolute path. */
      wrap(argv: readonly string[]): string[]
      close(): void
    }
  | { kind: 'none'; reason: string }

/** Call this when nothing more will be started in it. */
export function closeSandbox(sandbox: Sandbox): void {
  if (sandbox.kind === 'mount') sandbox.close()
}

export const NO_SANDBOX: Sandbox = { kind: 'none', reason: 'no sandbox was requested' }

const PROBE_MS = 10_000
const ENV = { PATH: process.env.PATH ?? '', LC_ALL: 'C' }

/** A root user inside the namespace could use these capabilities to undo the mounts or to bypass them. */
const POWERS = ['sys_admin', 'sys_ptrace', 'sys_module', 'sys_rawio', 'mknod', 'dac_read_search']
  .map((power) => `-${power}`)
  .join(',')

/**
 * Makes mounts for the processes of one run, in their own mount namespace. A probe process checks every time that
 * these very folders are protected. Folders that do not exist are left out.
 */
export async function openSandbox(
  folders: SandboxFolders,
  signal?: AbortSignal,
  prefer: Preference = 'isolation',
): Promise<Sandbox> {
  if (process.platform !== 'linux') return none('private mounts exist only on Linux')
  const tools = await findTools()
  if ('missing' in tools) return none(`the program ${tools.missing} is not installed`)
  const found: SandboxFolders = {
    readOnly: await existingPaths(folders.readOnly),
    hidden: await existingPaths(folders.hidden),
    open: await existingPaths(folders.open),
  }
  const reasons: string[] = []
  for (const way of waysOf(tools, prefer)) {
    for (const isShared of tools.nsenter ? [true, false] : [false]) {
      const sandbox = await trySandbox(way, { tools, found, isShared, signal })
      if (sandbox.kind === 'mount') return sandbox
      reasons.push(sandbox.reason)
    }
  }
  return none(reasons.at(-1) ?? 'no method is available')
}

interface Means {
  tools: Tools
  found: SandboxFolders
  /** Whether the mounts are made once for all processes instead of for each one. */
  isShared: boolean
  signal: AbortSignal | undefined
}

async function trySandbox(way: Way, { tools, found, isShared, signal }: Means): Promise<Sandbox> {
  const make = (argv: readonly string[]) => {
    const { words } = planMounts(found, mountPoints())
    const mounts = ['/bin/sh', '-c', MOUNT_SCRIPT, 'mounts', tools.mount, tools.mkdir, ...words]
    return [...way.outer, ...mounts, 'run', ...argv]
  }
  const { checks, paths } = planMounts(found, mountPoints())
  const { nsenter } = tools
  const shared =
    isShared && nsenter
      ? await shareMounts({ nsenter, wordsFor: make, paths, env: ENV, timeoutMs: PROBE_MS, signal })
      : null
  if (isShared && !shared) return none('mounts cannot be shared between processes here')
  const wrap = (argv: readonly string[]) => {
    const inside = [...way.inner, ...argv]
    const enter = shared?.enter()
    return enter ? [...enter, ...inside] : make(inside)
  }
  const close = () => shared?.close()
  const wrong = await tryOut(wrap(['/bin/sh', '-c', PROBE_SCRIPT, 'look', ...checks]), signal)
  if (wrong === null) return { kind: 'mount', wrap, close }
  close()
  return none(wrong)
}

function none(reason: string): Sandbox {
  return { kind: 'none', reason }
}

interface Tools {
  unshare: string
  mount: string
  mkdir: string
  setpriv: string | null
  nsenter: string | null
}

async function findTools(): Promise<Tools | { missing: string }> {
  const path = `${process.env.PATH ?? ''}:/usr/bin:/bin:/usr/sbin:/sbin`
  const find = (name: string) => findProgram(name, { path, cwd: '/' })
  const [unshare, mount, mkdir, setpriv = null, nsenter = null] = await Promise.all(
    ['unshare', 'mount', 'mkdir', 'setpriv', 'nsenter'].map(find),
  )
  if (!unshare) return { missing: 'unshare' }
  if (!mount) return { missing: 'mount' }
  if (!mkdir) return { missing: 'mkdir' }
  return { unshare, mount, mkdir, setpriv, nsenter }
}

interface Way {
  /** Words before the mount script. */
  outer: string[]
  /** Words before the program that drop the capabilities to undo the mounts. */
  inner: string[]
}

/**
 * Only matters for a real root user. `isolation`: programs cannot access other processes, which may see the folders
 * as writable, through /proc; but they can no longer change file owners. `powers`: they keep that capability.
 */
export type Preference = 'isolation' | 'powers'

/**
 * The methods to try. An ordinary user can mount as root of a user namespace; a second namespace inside it restores
 * the user's id and removes the power over the mounts. A real root user can also mount directly.
 */
function waysOf({ unshare, setpriv }: Tools, prefer: Preference): Way[] {
  const namespace = ['--mount', '--propagation', 'private']
  const user = process.geteuid?.() ?? 0
  const group = process.getegid?.() ?? 0
  const asUser = {
    outer: [unshare, '--user', '--map-root-user', ...namespace],
    inner: [unshare, '--user', `--map-user=${user}`, `--map-group=${group}`],
  }
  if (user !== 0 || !setpriv) return [asUser]
  const inner = [setpriv, '--bounding-set', POWERS, '--inh-caps', POWERS]
  const asRoot = { outer: [unshare, ...namespace], inner }
  return prefer === 'isolation' ? [asUser, asRoot] : [asRoot, asUser]
}

/** Null if the probe found everything protected; else the reason, as a clause. */
async function tryOut(
  [file = '', ...args]: string[],
  signal?: AbortSignal,
): Promise<string | null> {
  const limits = { timeout: PROBE_MS, killSignal: 'SIGKILL' } as const
  try {
    await promisify(execFile)(file, args, {
      cwd: '/',
      env: ENV,
      ...limits,
      ...(signal && { signal }),
    })
    return null
  } catch (error) {
    const { stderr = '', killed, message } = error as Error & { stderr?: string; killed?: boolean }
    if (signal?.aborted) return 'the check was stopped'
    if (killed) return `the mounts were not made within ${PROBE_MS / 1000} s`
    const said = (stderr || message).trim().replace(/\s+/g, ' ')
    return said.startsWith('unshare: ')
      ? `unshare is not allowed here: ${said.slice('unshare: '.length)}`
      : `the mounts do not hold here: ${said}`
  }
}
