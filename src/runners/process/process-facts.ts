import { closeSync, opendirSync, openSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'

/**
 * When a process started, in clock ticks since boot. With the boot id it tells a process from a later
 * one with the same id. Null if there is none, and on systems without /proc.
 */
export function processStart(pid: number): string | null {
  return processStat(pid)?.start ?? null
}

/** Differs after each start of the machine; null on systems without it. */
export function bootId(): string | null {
  return readProc('/proc/sys/kernel/random/boot_id')?.trim() ?? null
}

/** Every process there is, of all users. */
export function processIds(): number[] {
  return readdirSync('/proc').map(Number).filter(Number.isInteger)
}

export interface ProcessStat {
  /** `Z` is a zombie: it has exited, and its parent has not asked how. */
  state: string
  parent: number
  group: number
  /** The process that called setsid for it and its kin; kept as a number while any of them lives. */
  session: number
  start: string
}

/** Of `/proc/<pid>/stat`, see proc(5); null if there is no such process. */
export function processStat(pid: number): ProcessStat | null {
  const stat = readProc(`/proc/${pid}/stat`)
  if (stat === null) return null
  // The second field is the name in parentheses, and may itself hold spaces and parentheses.
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

/** The environment it began with, `NAME=value` each; empty for a zombie, null if not ours to read. */
export function processEnvironment(pid: number): string[] | null {
  return readProc(`/proc/${pid}/environ`)?.split('\0') ?? null
}

/** The mount namespace it lives in, to compare with others; null if not ours to read. */
export function mountNamespace(pid: number | 'self'): string | null {
  return unlessBarred(() => readlinkSync(`/proc/${pid}/ns/mnt`))
}

export interface NamespacePin {
  name: string
  /** Of ours, for as long as it is pinned. */
  path: string
  /** To be called once. */
  release(): void
}

/** A namespace it lives in, which stays and which no other one is named like until the release; null as above. */
export function pinNamespace(pid: number, kind: 'mnt' | 'user'): NamespacePin | null {
  const descriptor = unlessBarred(() => openSync(`/proc/${pid}/ns/${kind}`, 'r'))
  if (descriptor === null) return null
  return {
    name: readlinkSync(`/proc/self/fd/${descriptor}`),
    path: `/proc/${process.pid}/fd/${descriptor}`,
    release: () => closeSync(descriptor),
  }
}

/** The paths at which something is mounted for it, as proc_pid_mountinfo(5) writes them; none as above. */
export function mountPathsOf(pid: number): string[] {
  const lines = readProc(`/proc/${pid}/mountinfo`)?.split('\n') ?? []
  return lines.map((line) => line.split(' ', 5)[4] ?? '')
}

/** All that is mounted for this process, and how: another text after any change of that. */
export function mountTable(): string {
  return readProc('/proc/self/mountinfo') ?? ''
}

/** How many processes and threads were made since the machine started; NaN where /proc does not say. */
export function forkCount(): number {
  return Number(/^processes (\d+)$/m.exec(readProc('/proc/stat') ?? '')?.[1])
}

/**
 * How many process ids there are; NaN where /proc does not say. They are given in turn, and begin anew
 * when all were.
 */
export function processIdLimit(): number {
  return Number(readProc('/proc/sys/kernel/pid_max') ?? Number.NaN)
}

/** One that has more open than this is not looked through: it would hold up the service. */
const MAX_DESCRIPTORS = 20_000

/** Whether it has the socket open; null if its descriptors are not ours to read, or too many. */
export function holdsSocket(pid: number, inode: string): boolean | null {
  const folder = `/proc/${pid}/fd`
  const open = unlessBarred(() => opendirSync(folder, { bufferSize: 512 }))
  if (open === null) return processStat(pid) === null ? false : null
  const wanted = `socket:[${inode}]`
  try {
    for (let count = 0; count < MAX_DESCRIPTORS; count++) {
      const entry = unlessBarred(() => open.readSync())
      if (entry === null) return false // no more of them, or the process is gone
      if (unlessBarred(() => readlinkSync(`${folder}/${entry.name}`)) === wanted) return true
    }
    return null
  } finally {
    open.closeSync()
  }
}

/**
 * The TCP connections of this network namespace, IPv4 and IPv6, as proc(5) has them under /proc/net/tcp;
 * null where they are not shown. `self` is there too where /proc shows nothing but processes.
 */
export function tcpTable(): string | null {
  const [four, six] = ['tcp', 'tcp6'].map((name) => readProc(`/proc/self/net/${name}`))
  return four || six ? `${four ?? ''}${six ?? ''}` : null
}

function readProc(path: string): string | null {
  return unlessBarred(() => readFileSync(path, 'utf8'))
}

/** `EINVAL` is what the mounts of a process say that is just ending. */
const BARRED = ['ENOENT', 'ESRCH', 'EACCES', 'EPERM', 'EINVAL']

/** Null where the process is gone, or another user's. */
function unlessBarred<T>(look: () => T): T | null {
  try {
    return look()
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== undefined && BARRED.includes(code)) return null
    throw error
  }
}
