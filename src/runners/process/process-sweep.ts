import { setTimeout as delay } from 'node:timers/promises'
import { processStart } from './process-facts.ts'
import { type MarkedRun, membersOf } from './run-members.ts'

const GRACE_MS = 1_500
const TOTAL_MS = 5_000
const POLL_MS = 50

/**
 * Ends every process of a run, as `membersOf` finds them, also one that made a session of its own or has
 * shed its mark: TERM, then KILL, round after round until none is left, for 5 s at most. Returns how many it
 * ended. This process is never one of them, nor is a zombie or a process of another user.
 *
 * Works on Linux only: elsewhere there is no portable way to see the environment of a process, and
 * the result is 0.
 */
export async function endRun(run: MarkedRun, graceMs = GRACE_MS): Promise<number> {
  if (process.platform !== 'linux') return 0
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

/** Of a run of which nothing is known but its mark. */
export function endMarked(mark: string, graceMs = GRACE_MS): Promise<number> {
  return endRun({ mark, processes: [] }, graceMs)
}

/** Process ids by an identity that survives the reuse of ids. */
function aliveOf(run: MarkedRun): Map<string, number> {
  const found = new Map<string, number>()
  for (const pid of membersOf([run]).keys()) {
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
