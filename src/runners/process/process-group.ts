import { setTimeout as delay } from 'node:timers/promises'
import { processIds, processStat } from './process-facts.ts'

const GRACE_MS = 2_000
/** After KILL only a process in an uninterruptible system call is left. */
const KILL_WAIT_MS = 500
const POLL_MS = 20

/**
 * Ends every process of a group: TERM, and KILL for those that are left then. Resolves when none is left,
 * at the latest half a second after KILL. A child that made a session or group of its own is not part of it.
 *
 * To be called while the first of the group lives, or as soon as it has exited: an id that nobody
 * has any more is given to others in time.
 */
export async function endProcessGroup(group: number, graceMs = GRACE_MS): Promise<void> {
  if (!signalGroup(group, 'SIGTERM')) return
  await isGone(group, graceMs)
  // In any case: one that forks all the time can be missed by the look at /proc.
  if (signalGroup(group, 'SIGKILL')) await isGone(group, KILL_WAIT_MS)
}

async function isGone(group: number, withinMs: number): Promise<boolean> {
  const deadline = performance.now() + withinMs
  const known: number[] = []
  while (signalGroup(group, 0) && !areAllZombies(group, known)) {
    if (performance.now() > deadline) return false
    await delay(POLL_MS)
  }
  return true
}

/**
 * Orphans stay zombies until the first process of a container asks for them, which may be never. All
 * processes of the machine are looked through only when none of `known`, kept between calls, is alive.
 */
function areAllZombies(group: number, known: number[]): boolean {
  if (process.platform !== 'linux') return false
  const lives = (pid: number) => {
    const stat = processStat(pid)
    return stat?.group === group && stat.state !== 'Z'
  }
  if (known.some(lives)) return false
  known.splice(0, known.length, ...processIds().filter(lives))
  return known.length === 0
}

/** Whether there was anyone to signal. EPERM: someone, but of another user (or a zombie, on macOS). */
export function signalGroup(group: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-group, signal)
    return true
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ESRCH') return false
    if (code === 'EPERM') return true
    throw error
  }
}
