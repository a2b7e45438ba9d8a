import {
  forkCount,
  mountNamespace,
  type ProcessStat,
  pinNamespace,
  processEnvironment,
  processIdLimit,
  processIds,
  processStart,
  processStat,
} from './procfs.ts'
import { findInNamespaces, type RunNamespaces } from './run-namespaces.ts'

/** A process started for a run, distinguishable from a later one with the same id. */
export interface RunProcess {
  pid: number
  start: string | null
  /** The mount namespace of its sandbox; null if it shares ours. The name stays valid until `release`. */
  namespace: string | null
  /** How many processes the machine had created at that time; NaN if unknown. */
  forks: number
  /** Call this once, when the run is no longer needed. */
  release(): void
}

export interface IdentifiedRun extends RunNamespaces {
  /** The value of CASEFILE_RUN in its processes' environment. */
  runId: string
  /** The processes started for it, each the leader of its own session, including ended ones. */
  processes: readonly RunProcess[]
}

/** Call this while the program is held: it is in its sandbox's namespace then. */
export function runProcess(pid: number): RunProcess {
  const pin = process.platform === 'linux' ? pinNamespace(pid, 'mnt') : null
  if (pin?.name !== mountNamespace('self')) {
    return { ...earlierRunProcess(pid), ...(pin && { namespace: pin.name, release: pin.release }) }
  }
  pin?.release()
  return earlierRunProcess(pid)
}

/** For a process recorded earlier: by now it may have entered a namespace that others use, too. */
export function earlierRunProcess(pid: number): RunProcess {
  const forks = process.platform === 'linux' ? forkCount() : 0
  return { pid, start: processStart(pid), namespace: null, forks, release() {} }
}

type Table = ReadonlyMap<number, ProcessStat>

/**
 * Finds the processes of these runs: those with a run's id in their environment, those in the session or process
 * group of a process started for it, those in its mount namespaces, and all their descendants. A process that has
 * left all of these cannot be recognized. Linux only.
 */
export function findRunProcesses<R extends IdentifiedRun>(runs: readonly R[]): Map<number, R> {
  const table = liveProcesses()
  const leaders = findLeaders(runs)
  const runIds = new Map(runs.map((run) => [`CASEFILE_RUN=${run.runId}`, run]))
  const members = new Map<number, R>()
  for (const [pid, { session, group }] of table) {
    const run =
      leaders.get(pid) ??
      leaders.get(session) ??
      leaders.get(group) ??
      runFromEnvironment(pid, runIds)
    if (run) members.set(pid, run)
  }
  for (const [pid, run] of findInNamespaces(runs, table.keys())) {
    if (!members.has(pid)) members.set(pid, run)
  }
  for (const pid of table.keys()) {
    const run = inherited(pid, table, members)
    if (run) members.set(pid, run)
  }
  return members
}

/** All processes except this one and zombies. */
function liveProcesses(): Table {
  const table = new Map<number, ProcessStat>()
  for (const pid of processIds()) {
    const stat = pid === process.pid ? null : processStat(pid)
    if (stat && stat.state !== 'Z') table.set(pid, stat)
  }
  return table
}

/**
 * Maps each run's leader pid to the run, including leaders that have exited: the kernel does not reuse an id while
 * its session or group has members. If another process has the id now, the run's session is empty. If no process
 * has it, members of that session belong to the run, unless the id was reused and its new owner has exited, too.
 */
function findLeaders<R extends IdentifiedRun>(runs: readonly R[]): Map<number, R> {
  const leaders = new Map<number, R>()
  if (runs.every(({ processes }) => processes.length === 0)) return leaders
  // ids are reused only after most others were used; if the count is unknown (NaN), no exited leader's id is
  // trusted
  const safeSince = forkCount() - processIdLimit() / 2
  for (const run of runs) {
    for (const { pid, start, forks } of run.processes) {
      const present = processStart(pid)
      const isOurs = present === null ? forks > safeSince : present === start
      if (isOurs) leaders.set(pid, run)
    }
  }
  return leaders
}

function runFromEnvironment<R>(pid: number, runIds: ReadonlyMap<string, R>): R | undefined {
  for (const entry of processEnvironment(pid) ?? []) {
    const run = entry.startsWith('CASEFILE_RUN=') ? runIds.get(entry) : undefined
    if (run) return run
  }
  return undefined
}

/** The run of a process or of its nearest ancestor. The table is not read atomically, so it may contain a cycle. */
function inherited<R>(pid: number, table: Table, members: ReadonlyMap<number, R>): R | undefined {
  let at: number | undefined = pid
  for (let steps = 0; at !== undefined && steps <= table.size; steps++) {
    const run = members.get(at)
    if (run) return run
    at = table.get(at)?.parent
  }
  return undefined
}
