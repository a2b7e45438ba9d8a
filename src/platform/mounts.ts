import { readProc } from './proc.ts'

export interface MountPoint {
  path: string
  /** Options of this mount, as in `mount -o`: `rw`, `nosuid`, … */
  options: string[]
}

interface Mount extends MountPoint {
  id: string
  parent: string
}

/**
 * Returns the mounts of this process, by proc_pid_mountinfo(5), without those that another one covers. Null where
 * the system does not show them: it then has no mounts of a process's own either, or they cannot be planned.
 */
export function mountPoints(): MountPoint[] | null {
  const lines = readProc('self/mountinfo')?.split('\n').filter(Boolean)
  if (lines === undefined) return null
  return visibleMounts(lines.flatMap(readLine))
}

/** Namespaces that are kept by a mount are left out: nothing is written there, and a copy of the mounts may lack them. */
function readLine(line: string): Mount[] {
  const [id = '', parent = '', , , path = '', options = '', ...rest] = line.split(' ')
  if (rest[rest.indexOf('-') + 1] === 'nsfs') return []
  return [{ id, parent, path: decoded(path), options: options.split(',') }]
}

/** Those that a path leads to. */
function visibleMounts(mounts: readonly Mount[]): MountPoint[] {
  const ids = new Set(mounts.map(({ id }) => id))
  const inside = new Map<string, Mount[]>()
  for (const mount of mounts) inside.set(mount.parent, [...(inside.get(mount.parent) ?? []), mount])
  const root = mounts.find(
    ({ id, parent, path }) => path === '/' && (!ids.has(parent) || id === parent),
  )
  const seenAt = (path: string) => {
    let at = root
    for (let steps = 0; at !== undefined && steps < mounts.length; steps++) {
      const ways = (inside.get(at.id) ?? []).filter(
        (each) => each !== at && leadsTo(each.path, path),
      )
      if (ways.length === 0) break
      at = ways.reduce((first, each) => (each.path.length < first.path.length ? each : first))
    }
    return at
  }
  return mounts
    .filter((mount) => root === undefined || seenAt(mount.path) === mount)
    .map(({ path, options }) => ({ path, options }))
}

/** Whether an absolute path, without `.` and `..`, is the folder or inside of it. */
export function leadsTo(folder: string, path: string): boolean {
  return folder === '/' || path === folder || path.startsWith(`${folder}/`)
}

/** The kernel escapes spaces, line ends and backslashes as three octal digits. */
function decoded(path: string): string {
  return path.replace(/\\([0-7]{3})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 8)),
  )
}
