import { setTimeout as delay } from 'node:timers/promises'
import { SHOWS_PROCESSES } from '../../platform/proc.ts'
import { processIds, processStat, signalProcess } from '../../platform/processes.ts'

/** After SIGKILL only a process in an uninterruptible system call is left. */
const KILL_WAIT_MS = 500
const POLL_MS = 20

/**
 * Ends every process of a group: SIGTERM, then SIGKILL after `graceMs` for the rest. Resolves when none is left, at the latest half
 * a second after SIGKILL. Children that started their own session or group are not included. Call this while the
 * group's leader lives or right after it exited, since the id can be reused later. `isStarting` says that the leader lives
 * and may have no group yet.
 */
export async function endProcessGroup(
  group: number,
  graceMs: number,
  isStarting: () => boolean = () => false,
): Promise<void> {
  const signal = (name: NodeJS.Signals) =>
    signalGroup(group, name) || (isStarting() && signalProcess(group, name))
  if (!signal('SIGTERM')) return
  await isGone(group, graceMs)
  // always, because the list of processes can miss a process that keeps forking
  if (signal('SIGKILL')) await isGone(group, KILL_WAIT_MS)
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
 * Orphans stay zombies until the container's first process collects them, which may be never. All processes are
 * searched only if none of `known`, kept between calls, is alive.
 */
function areAllZombies(group: number, known: number[]): boolean {
  if (!SHOWS_PROCESSES) return false
  const lives = (pid: number) => {
    const stat = processStat(pid)
    return stat?.group === group && stat.state !== 'Z'
  }
  if (known.some(lives)) return false
  known.splice(0, known.length, ...processIds().filter(lives))
  return known.length === 0
}

/** Whether there was a process to signal. */
export function signalGroup(group: number, signal: NodeJS.Signals | 0): boolean {
  return signalProcess(-group, signal)
}
