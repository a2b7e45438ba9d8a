import { readProc } from './proc.ts'

export interface MountPoint {
  path: string
  /** Options of this mount, as in `mount -o`: `rw`, `nosuid`, … */
  options: string[]
}

/**
 * Returns the mounts of this process, by proc_pid_mountinfo(5); if two have the same path, the upper one. Null where
 * the system does not show them: it then has no mounts of a process's own either, or they cannot be planned.
 */
export function mountPoints(): MountPoint[] | null {
  const lines = readProc('self/mountinfo')?.split('\n').filter(Boolean)
  if (lines === undefined) return null
  const found = lines.map((line) => {
    const [, , , , path = '', options = ''] = line.split(' ')
    return { path: decoded(path), options: options.split(',') }
  })
  return [...new Map(found.map((mount) => [mount.path, mount])).values()]
}

/** The kernel escapes spaces, line ends and backslashes as three octal digits. */
function decoded(path: string): string {
  return path.replace(/\\([0-7]{3})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 8)),
  )
}
