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
} from './process-facts.ts'
import { inNamespacesOf, type RunNamespaces } from './run-namespaces.ts'

/** A process that was started for a run, told from a later one with the same id. */
export interface RunProcess {
  pid: number
  start: string | null
  /** The mount namespace that it was given; null if that is ours. Stays its name until the release. */
  namespace: string | null
  /** How many processes the machine had made when it was noted; NaN where that is not known. */
  forks: number
  /** To be called once, when nobody asks for the run any more. */
  release(): void
}

export interface MarkedRun extends RunNamespaces {
  /** The value of CASEFILE_RUN in the environment of its processes. */
  mark: string
  /** What was started for it, each the leader of a session of its own; those that have ended too. */
  processes: readonly RunProcess[]
}

/** To be noted while the program is held: it has the namespace of its guard then. */
export function runProcess(pid: number): RunProcess {
  const pin = process.platform === 'linux' ? pinNamespace(pid, 'mnt') : null
  if (pin?.name !== mountNamespace('self')) {
    return { ...begunProcess(pid), ...(pin && { namespace: pin.name, release: pin.release }) }
  }
  pin?.release()
  return begunProcess(pid)
}

/** Noted later: by then it may have entered a namespace in which others live too. */
export function begunProcess(pid: number): RunProcess {
  const forks = process.platform === 'linux' ? forkCount() : 0
  return { pid, start: processStart(pid), namespace: null, forks, release() {} }
}

type Table = ReadonlyMap<number, ProcessStat>

/**
 * The processes of these runs, each with its run: those that carry its mark, those in the session or
 * process group of one that was started for it, those in a mount namespace of its own, and
 * whatever descends from any of them. One that has shed all of these is not told from a stranger. Linux only.
 */
export function membersOf<R extends MarkedRun>(runs: readonly R[]): Map<number, R> {
  const table = liveProcesses()
  const leaders = leadersOf(runs)
  const marks = new Map(runs.map((run) => [`CASEFILE_RUN=${run.mark}`, run]))
  const members = new Map<number, R>()
  for (const [pid, { session, group }] of table) {
    const run = leaders.get(pid) ?? leaders.get(session) ?? leaders.get(group) ?? markOf(pid, marks)
    if (run) members.set(pid, run)
  }
  for (const [pid, run] of inNamespacesOf(runs, table.keys())) {
    if (!members.has(pid)) members.set(pid, run)
  }
  for (const pid of table.keys()) {
    const run = inherited(pid, table, members)
    if (run) members.set(pid, run)
  }
  return members
}

/** All but this one, which is in no run of its own, and zombies, which do nothing any more. */
function liveProcesses(): Table {
  const table = new Map<number, ProcessStat>()
  for (const pid of processIds()) {
    const stat = pid === process.pid ? null : processStat(pid)
    if (stat && stat.state !== 'Z') table.set(pid, stat)
  }
  return table
}

/**
 * By process id, also of those that have ended: the kernel gives nobody the id of a session or group that
 * has somebody in it. So if another one has the id now, nobody is left of the first one's session, and all who
 * are in one of that number are strangers. If nobody has it they are of the run, unless another one had the
 * id in between and has left them behind.
 */
function leadersOf<R extends MarkedRun>(runs: readonly R[]): Map<number, R> {
  const leaders = new Map<number, R>()
  if (runs.every(({ processes }) => processes.length === 0)) return leaders
  // ids are given in turn: none is given again before most of the others were;
  // where the count is not known (NaN) no id of one that has ended is trusted
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

function markOf<R>(pid: number, marks: ReadonlyMap<string, R>): R | undefined {
  for (const entry of processEnvironment(pid) ?? []) {
    const run = entry.startsWith('CASEFILE_RUN=') ? marks.get(entry) : undefined
    if (run) return run
  }
  return undefined
}

/** Of itself or its nearest forebear. The table was not read in one instant, so it may even have a ring. */
function inherited<R>(pid: number, table: Table, members: ReadonlyMap<number, R>): R | undefined {
  let at: number | undefined = pid
  for (let steps = 0; at !== undefined && steps <= table.size; steps++) {
    const run = members.get(at)
    if (run) return run
    at = table.get(at)?.parent
  }
  return undefined
}
