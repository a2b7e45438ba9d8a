/** Processes that a run may have left behind, where it had no separate process namespace. */

import { readProc } from '../../platform/proc.ts'
import { processIds, processName, processStat, processUser } from '../../platform/processes.ts'

export interface LeftProcess {
  pid: number
  /** The name of its program; anybody can choose it. */
  name: string
}

/** The time since the system started, to find later processes by `leftProcesses`; null where it is not shown. */
export function momentOfStart(): number | null {
  const seconds = Number.parseFloat(readProc('uptime') ?? '')
  return Number.isNaN(seconds) ? null : seconds
}

/** The kernel counts the start of processes in these for programs, whatever its own clock is. */
const TICKS = 100
/** Collects orphans, besides the first process. */
const MANAGER = 'systemd'

/**
 * The processes of this user that started since a moment and lost their parents: what leaves its session, clears its
 * environment and gives its parents up is found like this. So is what you start meanwhile, if it does the same, as
 * a desktop program may.
 */
export function leftProcesses(since: number): LeftProcess[] {
  const user = process.getuid?.()
  return processIds().flatMap((pid) => {
    const stat = pid === process.pid ? null : processStat(pid)
    if (stat === null || stat.state === 'Z' || Number(stat.start) < Math.floor(since * TICKS))
      return []
    if (!isOrphan(stat.parent) || processUser(pid) !== user) return []
    return [{ pid, name: processName(pid) ?? '' }]
  })
}

function isOrphan(parent: number): boolean {
  return parent === 1 || processName(parent) === MANAGER
}
