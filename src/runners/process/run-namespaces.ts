import { mountNamespace, mountPathsOf } from './procfs.ts'

export interface RunNamespaces {
  processes: readonly { namespace: string | null }[]
  /** A UUID at the end of the name of the folder that only the run's sandbox shows. */
  folderId?: string
}

/**
 * Finds the processes in a run's mount namespaces: a namespace of a process started for the run, or one in which
 * the run's own folder is mounted, as every sandbox does. The latter also finds nested namespaces, and processes
 * that a dead service left. A namespace that a program enters later does not count by itself, because other
 * processes may use it as well, as with a snap.
 */
export function findInNamespaces<R extends RunNamespaces>(
  runs: readonly R[],
  pids: Iterable<number>,
): Map<number, R> {
  const known = new Map<string, R>()
  const folders = new Map<string, R>()
  for (const run of runs) {
    for (const { namespace } of run.processes) if (namespace !== null) known.set(namespace, run)
    if (run.folderId) folders.set(run.folderId, run)
  }
  if (known.size + folders.size === 0) return new Map()

  const own = mountNamespace('self')
  known.delete(own ?? '')
  const elsewhere: [pid: number, namespace: string][] = []
  for (const pid of pids) {
    const namespace = mountNamespace(pid)
    if (namespace === null || namespace === own) continue
    elsewhere.push([pid, namespace])
    // check every process: one with another root folder sees few of the mounts
    const run = known.has(namespace) ? undefined : runOfMounts(pid, folders)
    if (run) known.set(namespace, run)
  }
  const found = elsewhere.map(([pid, namespace]) => [pid, known.get(namespace)] as const)
  return new Map(found.filter((entry): entry is [number, R] => entry[1] !== undefined))
}

/** The run whose folder is mounted where this process sees it. */
function runOfMounts<R>(pid: number, folders: ReadonlyMap<string, R>): R | undefined {
  for (const path of folders.size > 0 ? mountPathsOf(pid) : []) {
    for (const [id, run] of folders) if (path.endsWith(`-${id}`)) return run
  }
  return undefined
}
