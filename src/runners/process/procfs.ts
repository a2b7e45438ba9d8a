import { opendirSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'

/**
 * When a process started, in clock ticks since boot. Together with the boot id it distinguishes a process from a
 * later one with the same id. Null if there is no such process, and on systems without /proc.
 */
export function processStart(pid: number): string | null {
  return processStat(pid)?.start ?? null
}

/** Changes with every boot; null on systems without it. */
export function bootId(): string | null {
  return readProc('/proc/sys/kernel/random/boot_id')?.trim() ?? null
}

/** The ids of all processes, of all users. */
export function processIds(): number[] {
  return readdirSync('/proc').map(Number).filter(Number.isInteger)
}

export interface ProcessStat {
  /** `Z` is a zombie: it has exited, but its parent has not collected its status. */
  state: string
  parent: number
  group: number
  /** The id of its session (see setsid). The number stays reserved while a process of the session lives. */
  session: number
  start: string
}

/** Reads `/proc/<pid>/stat`, see proc(5); null if there is no such process. */
export function processStat(pid: number): ProcessStat | null {
  const stat = readProc(`/proc/${pid}/stat`)
  if (stat === null) return null
  // the second field is the name in parentheses, which may contain spaces and parentheses
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const field = (number: number) => fields[number - 3] ?? ''
  const number = (at: number) => Number(field(at))
  return {
    state: field(3),
    parent: number(4),
    group: number(5),
    session: number(6),
    start: field(22),
  }
}

/** Its initial environment as `NAME=value` entries; empty for a zombie, null if not readable. */
export function processEnvironment(pid: number): string[] | null {
  return readProc(`/proc/${pid}/environ`)?.split('\0') ?? null
}

/** Its mount namespace, for comparison; null if not readable. */
export function mountNamespace(pid: number | 'self'): string | null {
  return unlessBarred(() => readlinkSync(`/proc/${pid}/ns/mnt`))
}

/** The mount points it sees, in the notation of proc_pid_mountinfo(5); empty if not readable. */
export function mountPathsOf(pid: number): string[] {
  const lines = readProc(`/proc/${pid}/mountinfo`)?.split('\n') ?? []
  return lines.map((line) => line.split(' ', 5)[4] ?? '')
}

/** Processes with more open descriptors are not searched, since that would block the service. */
const MAX_DESCRIPTORS = 20_000

/** Whether a process has the socket open; null if its descriptors are not readable or too many. */
export function holdsSocket(pid: number, inode: string): boolean | null {
  const folder = `/proc/${pid}/fd`
  const open = unlessBarred(() => opendirSync(folder, { bufferSize: 512 }))
  if (open === null) return processStat(pid) === null ? false : null
  const wanted = `socket:[${inode}]`
  try {
    for (let count = 0; count < MAX_DESCRIPTORS; count++) {
      const entry = unlessBarred(() => open.readSync())
      if (entry === null) return false // no more entries, or the process is gone
      if (unlessBarred(() => readlinkSync(`${folder}/${entry.name}`)) === wanted) return true
    }
    return null
  } finally {
    open.closeSync()
  }
}

/**
 * The TCP connections of this network namespace, IPv4 and IPv6, as proc(5) describes /proc/net/tcp; null if they
 * are not shown. Uses `self`, which also exists where /proc shows only processes.
 */
export function tcpTable(): string | null {
  const [four, six] = ['tcp', 'tcp6'].map((name) => readProc(`/proc/self/net/${name}`))
  return four || six ? `${four ?? ''}${six ?? ''}` : null
}

function readProc(path: string): string | null {
  return unlessBarred(() => readFileSync(path, 'utf8'))
}

/** `EINVAL` occurs for the mounts of a process that is just exiting. */
const BARRED = ['ENOENT', 'ESRCH', 'EACCES', 'EPERM', 'EINVAL']

/** Null if the process is gone or belongs to another user. */
function unlessBarred<T>(look: () => T): T | null {
  try {
    return look()
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== undefined && BARRED.includes(code)) return null
    throw error
  }
}
