import { spawn } from 'node:child_process'
import { identityOf } from '../../files/mount-points.ts'
import { mountTable, type NamespacePin, pinNamespace } from './process-facts.ts'

/** Mounts that are made once, for all processes of a run: to make them takes longer than many a step. */
export interface SharedMounts {
  /**
   * The words that start a program among them. Null where another folder stands by now in the place of
   * one of those they are made on, or the machine's own mounts are others: what was made then may not hold.
   */
  enter(): string[] | null
  /** Processes that have entered stay. */
  close(): void
}

export interface MountMaker {
  /** The program that enters a namespace. */
  nsenter: string
  /** Makes the mounts, in a namespace of its own, and becomes a program. */
  wordsFor(argv: readonly string[]): string[]
  /** What they are made on. */
  paths: readonly string[]
  env: Record<string, string>
  timeoutMs: number
  signal?: AbortSignal | undefined
}

/** Lives until the namespace has been taken from it; or we are gone, and nobody will. */
const KEEPER = ['/bin/sh', '-c', 'echo made; read -r _']

/** Null where that does not work; why is not known. */
export async function shareMounts(maker: MountMaker): Promise<SharedMounts | null> {
  const seen = sightOf(maker.paths)
  const pins = await captureBaseline(maker)
  if (!pins) return null
  const [mounts, user] = pins
  const ofUser = user ? [`--user=${user.path}`, '--preserve-credentials'] : []
  return {
    enter: () =>
      sightOf(maker.paths) === seen ? [maker.nsenter, ...ofUser, `--mount=${mounts.path}`] : null,
    close: () => {
      mounts.release()
      user?.release()
    },
  }
}

/** The second is null where the mounts belong to our own user namespace. */
async function captureBaseline(
  maker: MountMaker,
): Promise<[NamespacePin, NamespacePin | null] | null> {
  const [file = '', ...args] = maker.wordsFor(KEEPER)
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

/** Which folders stand at these paths, and what is mounted. */
function sightOf(paths: readonly string[]): string {
  return [...paths.map(identityOf), mountTable()].join('\n')
}
