import { setTimeout as delay } from 'node:timers/promises'
import { SHOWS_PROCESSES } from '../../platform/proc.ts'
import { processStart } from '../../platform/processes.ts'
import { TIME_LIMITS } from '../time-limits.ts'
import { endProcessGroup, signalGroup } from './process-group.ts'
import { findRunProcesses, type IdentifiedRun, type RunProcess } from './run-processes.ts'

const TOTAL_MS = 5_000
const POLL_MS = 50
/** A process that forks and exits during one look is not in it, nor is its child. */
const EMPTY_LOOKS = 2

/**
 * Ends every process of a run that `findRunProcesses` finds, including those that started their own session or cleared
 * their environment: SIGTERM, then SIGKILL after `graceMs`, repeated until none is left, for at most 5 s. Returns how many were
 * ended. Never ends this process, and ignores zombies and processes of other users. Where the system does not show
 * all processes, it ends the process groups that were started for the run, and returns their number.
 */
export async function killRun(run: IdentifiedRun, graceMs: number): Promise<number> {
  if (!SHOWS_PROCESSES) return endGroups(run, graceMs)
  const began = performance.now()
  const signalled = new Map<string, NodeJS.Signals>()
  for (let emptyLooks = 0; ; ) {
    const alive = aliveOf(run)
    const elapsed = performance.now() - began
    emptyLooks = alive.size === 0 ? emptyLooks + 1 : 0
    const isOver = emptyLooks === EMPTY_LOOKS || elapsed > TOTAL_MS
    const signal = isOver || elapsed >= graceMs ? 'SIGKILL' : 'SIGTERM'
    for (const [key, pid] of alive) {
      if (signalled.get(key) !== signal && send(pid, signal)) signalled.set(key, signal)
    }
    if (signal === 'SIGKILL') for (const { pid } of groupsOf(run)) signalGroup(pid, signal)
    if (isOver) return [...signalled.keys()].filter((key) => !alive.has(key)).length
    if (alive.size > 0) await delay(POLL_MS)
  }
}

/** Ends the processes of a run by its id alone. */
export function killRunById(runId: string, graceMs = TIME_LIMITS.endRun): Promise<number> {
  return killRun({ runId, processes: [] }, graceMs)
}

/** A group without its leader is still the run's, as no new process gets the id while the group has members. */
function groupsOf({ processes }: IdentifiedRun): RunProcess[] {
  return processes.filter(({ pid, start }) => {
    if (start === null) return false
    const present = processStart(pid)
    return (present === null || present === start) && signalGroup(pid, 0)
  })
}

async function endGroups(run: IdentifiedRun, graceMs: number): Promise<number> {
  const groups = groupsOf(run)
  await Promise.all(groups.map(({ pid }) => endProcessGroup(pid, graceMs)))
  return groups.length
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
