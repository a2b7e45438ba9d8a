import { setTimeout as delay } from 'node:timers/promises'
import { SHOWS_PROCESSES } from '../../platform/proc.ts'
import { processStart } from '../../platform/processes.ts'
import { TIME_LIMITS } from '../time-limits.ts'
import { findRunProcesses, type IdentifiedRun } from './run-processes.ts'

const TOTAL_MS = 5_000
const POLL_MS = 50

/**
 * Ends every process of a run that `findRunProcesses` finds, including those that started their own session or cleared
 * their environment: SIGTERM, then SIGKILL after `graceMs`, repeated until none is left, for at most 5 s. Returns how many were
 * ended. Never ends this process, and ignores zombies and processes of other users. Linux only: elsewhere it does
 * nothing and returns 0, because the environment of a process cannot be read portably.
 */
export async function killRun(run: IdentifiedRun, graceMs: number): Promise<number> {
  if (!SHOWS_PROCESSES) return 0
  const began = performance.now()
  const signalled = new Map<string, NodeJS.Signals>()
  for (;;) {
    const alive = aliveOf(run)
    const elapsed = performance.now() - began
    if (alive.size === 0 || elapsed > TOTAL_MS) {
      return [...signalled.keys()].filter((key) => !alive.has(key)).length
    }
    const signal = elapsed < graceMs ? 'SIGTERM' : 'SIGKILL'
    for (const [key, pid] of alive) {
      if (signalled.get(key) !== signal && send(pid, signal)) signalled.set(key, signal)
    }
    await delay(POLL_MS)
  }
}

/** Ends the processes of a run by its id alone. */
export function killRunById(runId: string, graceMs = TIME_LIMITS.endRun): Promise<number> {
  return killRun({ runId, processes: [] }, graceMs)
}

/** Process ids by an identity that survives the reuse of ids. */
function aliveOf(run: IdentifiedRun): Map<string, number> {
  const found = new Map<string, number>()
  for (const pid of findRunProcesses([run]).keys()) {
    const start = processStart(pid)
    if (start !== null) found.set(`${pid} ${start}`, pid)
  }
  return found
}

function send(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ESRCH' || code === 'EPERM') return false
    throw error
  }
}
