import { spawn } from 'node:child_process'
import { identityOf } from '../../files/mount-points.ts'
import { mountTable, type NamespacePin, pinNamespace } from './procfs.ts'

/** Mounts made once for all processes of a run, because making them takes longer than many a step. */
export interface SharedMounts {
  /**
   * The words that start a program inside. Null if a mounted folder was replaced or the machine's mounts changed,
   * since the protection may no longer be complete.
   */
  enter(): string[] | null
  /** Processes already inside are not affected. */
  close(): void
}

export interface MountMaker {
  /** The path of the `nsenter` program. */
  nsenter: string
  /** The command that makes the mounts in a new namespace and then runs a program. */
  wordsFor(argv: readonly string[]): string[]
  /** The mount points. */
  paths: readonly string[]
  env: Record<string, string>
  timeoutMs: number
  signal?: AbortSignal | undefined
}

/** A process that keeps the namespace alive until it is pinned, and exits if this service dies. */
const NAMESPACE_HOLDER = ['/bin/sh', '-c', 'echo made; read -r _']

/** Null if mounts cannot be shared here; the reason is not known. */
export async function shareMounts(maker: MountMaker): Promise<SharedMounts | null> {
  const fingerprint = mountFingerprint(maker.paths)
  const pins = await openNamespace(maker)
  if (!pins) return null
  const [mounts, user] = pins
  const ofUser = user ? [`--user=${user.path}`, '--preserve-credentials'] : []
  return {
    enter: () =>
      mountFingerprint(maker.paths) === fingerprint
        ? [maker.nsenter, ...ofUser, `--mount=${mounts.path}`]
        : null,
    close: () => {
      mounts.release()
      user?.release()
    },
  }
}

/** The second pin is null if the mounts belong to our own user namespace. */
async function openNamespace(
  maker: MountMaker,
): Promise<[NamespacePin, NamespacePin | null] | null> {
  const [file = '', ...args] = maker.wordsFor(NAMESPACE_HOLDER)
  const { env, timeoutMs: timeout, signal } = maker
  const child = spawn(file, args, {
    cwd: '/',
    env,
    timeout,
    killSignal: 'SIGKILL',
    stdio: ['pipe', 'pipe', 'ignore'],
    ...(signal && { signal }),
  })
  child.on('error', () => {}) // nothing is printed then, and nobody can be asked
  if (child.pid === undefined) return null
  const gone = new Promise((resolve) => child.once('close', resolve))
  try {
    for await (const _ of child.stdout!) return pinned(child.pid)
    return null
  } finally {
    child.kill('SIGKILL')
    await gone
  }
}

function pinned(pid: number): [NamespacePin, NamespacePin | null] | null {
  const mounts = pinNamespace(pid, 'mnt')
  const user = pinNamespace(pid, 'user')
  const own = pinNamespace(process.pid, 'user')
  own?.release()
  if (mounts && user && own) {
    if (user.name !== own.name) return [mounts, user]
    user.release()
    return [mounts, null]
  }
  mounts?.release()
  user?.release()
  return null
}

/** A fingerprint of the folders at these paths and of the mount table. */
function mountFingerprint(paths: readonly string[]): string {
  return [...paths.map(identityOf), mountTable()].join('\n')
}
