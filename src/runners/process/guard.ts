import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { existingPaths, mountPoints } from '../../files/mount-points.ts'
import { findProgram } from './find-program.ts'
import { type GuardedFolders, LOOK, MOUNT_ALL, planMounts } from './guard-mounts.ts'
import { shareMounts } from './shared-mounts.ts'

/** What keeps the processes of a run from writing where they must not. */
export type Guard =
  | {
      kind: 'mount'
      /** The words that start `argv` with the folders mounted; the program must be an absolute path. */
      wrap(argv: readonly string[]): string[]
      close(): void
    }
  | { kind: 'none'; reason: string }

/** When no more is started under it. */
export function closeGuard(guard: Guard): void {
  if (guard.kind === 'mount') guard.close()
}

export const NO_GUARD: Guard = { kind: 'none', reason: 'none was asked for' }

const PROBE_MS = 10_000
const ENV = { PATH: process.env.PATH ?? '', LC_ALL: 'C' }

/** Without these a root that is no more than that can neither undo a mount nor go around it. */
const POWERS = ['sys_admin', 'sys_ptrace', 'sys_module', 'sys_rawio', 'mknod', 'dac_read_search']
  .map((power) => `-${power}`)
  .join(',')

/**
 * Mounts for the processes of one run, in a namespace of theirs; nobody else sees them. Whether they hold
 * is found out here, every time, by a process that looks at these very folders. Those that do not exist are
 * left out.
 */
export async function openGuard(
  folders: GuardedFolders,
  signal?: AbortSignal,
  prefer: Preference = 'isolation',
): Promise<Guard> {
  if (process.platform !== 'linux') return none('mounts of a process are known on Linux only')
  const tools = await findTools()
  if ('missing' in tools) return none(`there is no ${tools.missing} here`)
  const found: GuardedFolders = {
    readOnly: await existingPaths(folders.readOnly),
    hidden: await existingPaths(folders.hidden),
    open: await existingPaths(folders.open),
  }
  const reasons: string[] = []
  for (const way of waysOf(tools, prefer)) {
    for (const isShared of tools.nsenter ? [true, false] : [false]) {
      const guard = await guardBy(way, { tools, found, isShared, signal })
      if (guard.kind === 'mount') return guard
      reasons.push(guard.reason)
    }
  }
  return none(reasons.at(-1) ?? 'no way is known')
}

interface Means {
  tools: Tools
  found: GuardedFolders
  /** Whether the mounts are made once for all processes, not anew by each. */
  isShared: boolean
  signal: AbortSignal | undefined
}

async function guardBy(way: Way, { tools, found, isShared, signal }: Means): Promise<Guard> {
  const make = (argv: readonly string[]) => {
    const { words } = planMounts(found, mountPoints())
    const mounts = ['/bin/sh', '-c', MOUNT_ALL, 'mounts', tools.mount, tools.mkdir, ...words]
    return [...way.outer, ...mounts, 'run', ...argv]
  }
  const { checks, paths } = planMounts(found, mountPoints())
  const { nsenter } = tools
  const shared =
    isShared && nsenter
      ? await shareMounts({ nsenter, wordsFor: make, paths, env: ENV, timeoutMs: PROBE_MS, signal })
      : null
  if (isShared && !shared) return none('mounts cannot be shared here')
  const wrap = (argv: readonly string[]) => {
    const inside = [...way.inner, ...argv]
    const enter = shared?.enter()
    return enter ? [...enter, ...inside] : make(inside)
  }
  const close = () => shared?.close()
  const wrong = await tryOut(wrap(['/bin/sh', '-c', LOOK, 'look', ...checks]), signal)
  if (wrong === null) return { kind: 'mount', wrap, close }
  close()
  return none(wrong)
}

function none(reason: string): Guard {
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
  /** Words in front of the script that mounts. */
  outer: string[]
  /** Words in front of the program: they take from it the power to undo the mounts. */
  inner: string[]
}

/**
 * Matters to a true root alone. `isolation`: its programs cannot reach into other processes, which may see
 * the folders as writable, through /proc; but they have lost the power to change owners. `powers`: they keep it.
 */
export type Preference = 'isolation' | 'powers'

/**
 * An ordinary user may mount as the root of a user namespace; in one more inside of it the program has its own id
 * back, and no power over the mounts. A true root may also go straight.
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

/** Null if the look found what it should, else why not, in a clause. */
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
    if (signal?.aborted) return 'the session was stopped first'
    if (killed) return `the mounts were not made within ${PROBE_MS / 1000} s`
    const said = (stderr || message).trim().replace(/\s+/g, ' ')
    return said.startsWith('unshare: ')
      ? `unshare is not allowed here: ${said.slice('unshare: '.length)}`
      : `the mounts do not hold here: ${said}`
  }
}
