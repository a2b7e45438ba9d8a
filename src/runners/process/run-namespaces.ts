import { mountNamespace, mountPathsOf } from './process-facts.ts'

export interface RunNamespaces {
  processes: readonly { namespace: string | null }[]
  /** A UUID: the folder that its guard shows to its processes alone has it at the end of its name. */
  folderId?: string
}

/**
 * Of these processes those that live in a mount namespace of a run: in one that a process had which was started
 * for it, or in one where the run's own folder is mounted, which every guard does and nobody else. The
 * latter finds also what made one more namespace inside, and what a service has left that died.
 *
 * What a program enters in the course of a run does not count by itself: others may live there too, as in that
 * of a snap.
 */
export function inNamespacesOf<R extends RunNamespaces>(
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
    // each of them is asked: one that has changed its root sees few of the mounts
    const run = known.has(namespace) ? undefined : shownTo(pid, folders)
    if (run) known.set(namespace, run)
  }
  const found = elsewhere.map(([pid, namespace]) => [pid, known.get(namespace)] as const)
  return new Map(found.filter((entry): entry is [number, R] => entry[1] !== undefined))
}

/** Whose folder is mounted where a process sees it. */
function shownTo<R>(pid: number, folders: ReadonlyMap<string, R>): R | undefined {
  for (const path of folders.size > 0 ? mountPathsOf(pid) : []) {
    for (const [id, run] of folders) if (path.endsWith(`-${id}`)) return run
  }
  return undefined
}
