import {
  mountNamespace,
  mountPathsOf,
  type ProcessStat,
  processEnvironment,
  processIds,
  processStart,
  processStat,
} from '../../platform/processes.ts'
import { helperIds } from '../enclosure/helper-process.ts'

/** A process started for a run, distinguishable from a later one with the same id. */
export interface RunProcess {
  pid: number
  start: string | null
}

export interface IdentifiedRun {
  /** The value of CASEFILE_RUN in its processes' environment. */
  runId: string
  /** The processes started for it, each the leader of its own session, including ended ones. */
  processes: readonly RunProcess[]
  /** A UUID at the end of the name of the folder that only the run's sandbox shows. */
  folderId?: string
}

export function runProcess(pid: number): RunProcess {
  return { pid, start: processStart(pid) }
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
    if (helperIds.has(pid)) continue
    const run =
      leaders.get(pid) ??
      leaders.get(session) ??
      leaders.get(group) ??
      runFromEnvironment(pid, runIds)
    if (run) members.set(pid, run)
  }
  for (const [pid, run] of findInNamespaces(runs, table.keys())) {
    if (!members.has(pid) && !helperIds.has(pid)) members.set(pid, run)
  }
  for (const pid of table.keys()) {
    const run = inherited(pid, table, members)
    if (run) members.set(pid, run)
  }
  return members
}

/** All processes except this one, zombies and threads of the kernel, which can be most. */
function liveProcesses(): Table {
  const table = new Map<number, ProcessStat>()
  for (const pid of processIds()) {
    const stat = pid === process.pid ? null : processStat(pid)
    if (stat && stat.state !== 'Z' && !stat.isKernel) table.set(pid, stat)
  }
  return table
}

/**
 * Maps each run's leader pid to the run, including leaders that have exited: the kernel does not reuse an id while
 * its session or group has members. If another process has the id now, the run's session is empty. If no process
 * has it, members of that session belong to the run.
 */
function findLeaders<R extends IdentifiedRun>(runs: readonly R[]): Map<number, R> {
  const leaders = new Map<number, R>()
  for (const run of runs) {
    for (const { pid, start } of run.processes) {
      const present = processStart(pid)
      if (present === null || present === start) leaders.set(pid, run)
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

/**
 * Finds the processes in a run's mount namespaces: those in which the run's own folder is mounted, as every sandbox does.
 * This also finds nested namespaces, and processes that a dead service left.
 */
function findInNamespaces<R extends IdentifiedRun>(
  runs: readonly R[],
  pids: Iterable<number>,
): Map<number, R> {
  const folders = new Map<string, R>()
  for (const run of runs) if (run.folderId) folders.set(run.folderId, run)
  const found = new Map<number, R>()
  if (folders.size === 0) return found

  const own = mountNamespace('self')
  const known = new Map<string, R>()
  const elsewhere: [pid: number, namespace: string][] = []
  for (const pid of pids) {
    const namespace = mountNamespace(pid)
    if (namespace === null || namespace === own) continue
    elsewhere.push([pid, namespace])
    // check every process: one with another root folder sees few of the mounts
    const run = known.has(namespace) ? undefined : runOfMounts(pid, folders)
    if (run) known.set(namespace, run)
  }
  for (const [pid, namespace] of elsewhere) {
    const run = known.get(namespace)
    if (run) found.set(pid, run)
  }
  return found
}

/** The run whose folder is mounted where this process sees it. */
function runOfMounts<R>(pid: number, folders: ReadonlyMap<string, R>): R | undefined {
  for (const path of mountPathsOf(pid)) {
    for (const [id, run] of folders) if (path.endsWith(`-${id}`)) return run
  }
  return undefined
}
