/**
 * What the system shows about processes and their connections. Without /proc (see `SHOWS_PROCESSES`) that is only the
 * state and the start of one process.
 */

import { spawnSync } from 'node:child_process'
import { openProcFolder, procEntries, readProc, readProcLink, SHOWS_PROCESSES } from './proc.ts'

/**
 * When a process started, as a word to compare. Together with the boot id it distinguishes a process from a later one
 * with the same id. Null if there is no such process, and on Windows.
 */
export function processStart(pid: number): string | null {
  return processStat(pid)?.start ?? null
}

/**
 * Whether the process that started then goes on. Without /proc, a process with this id counts if the system does not say
 * when it started, as `ps` may fail or take too long.
 */
export function goesOn(pid: number, start: string): boolean {
  const present = processStart(pid)
  return present === null ? !SHOWS_PROCESSES && exists(pid) : present === start
}

/** Whether there is a process with this id, of any user. */
export function exists(pid: number): boolean {
  return signalProcess(pid, 0)
}

/**
 * Signals a process, or a group by its negative id. Returns whether there was one. EPERM means there is one of another
 * user (or a zombie, on macOS).
 */
export function signalProcess(id: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(id, signal)
    return true
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ESRCH') return false
    if (code === 'EPERM') return true
    throw error
  }
}

/** Changes with every boot; null on systems without it. */
export function bootId(): string | null {
  return readProc('sys/kernel/random/boot_id')?.trim() ?? null
}

/** The ids of all processes, of all users; empty if they are not shown. */
export function processIds(): number[] {
  return (procEntries('') ?? []).map(Number).filter(Number.isInteger)
}

export interface ProcessStat {
  /** `Z` is a zombie: it has exited, but its parent has not collected its status. */
  state: string
  parent: number
  group: number
  /** The id of its session (see setsid). The number stays reserved while a process of the session lives. */
  session: number
  start: string
  /** A thread of the kernel: it runs no program, and has neither an environment nor open files. */
  isKernel: boolean
}

/** Null if there is no such process, or if the system says nothing about it. */
export function processStat(pid: number): ProcessStat | null {
  if (!SHOWS_PROCESSES) return statByCommand(pid)
  const stat = readProc(`${pid}/stat`)
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
    isKernel: (number(9) & PF_KTHREAD) !== 0,
  }
}

/** Of `flags` in proc(5), as the kernel's include/linux/sched.h has it. */
const PF_KTHREAD = 0x0020_0000

/** The whole line that `ps` prints, in a fixed language and time zone, as the start time is compared. */
const PS_LINE = /^ *([A-Z])\S*\s+(\d+)\s+(\d+)\s+(\S.*\S)\s*$/m
const PS_MS = 5_000

/** For systems without /proc. Takes about 10 ms; Windows has no `ps`. Sessions are not shown. */
function statByCommand(pid: number): ProcessStat | null {
  const columns = ['state', 'ppid', 'pgid', 'lstart'].flatMap((name) => ['-o', `${name}=`])
  const { stdout } = spawnSync('/bin/ps', [...columns, '-p', String(pid)], {
    encoding: 'utf8',
    env: { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC0' },
    timeout: PS_MS,
    windowsHide: true,
  })
  const [, state, parent, group, start] = PS_LINE.exec(stdout ?? '') ?? []
  if (state === undefined || start === undefined) return null
  return {
    state,
    parent: Number(parent),
    group: Number(group),
    session: 0,
    start,
    isKernel: false,
  }
}

/**
 * The children of a process but one, also those that have ended and were not collected; empty if they are not shown. The
 * kernel may leave some out of its list while others end, so that all processes are searched if there seems to be none.
 */
export function childrenOf(pid: number, except: number | null = null): number[] {
  const listed = readProc(`${pid}/task/${pid}/children`)?.split(' ').filter(Boolean) ?? []
  const others = listed.map(Number).filter((id) => id !== except)
  if (others.length > 0) return others
  return processIds().filter((id) => id !== except && processStat(id)?.parent === pid)
}

/** Where Linux lets a process sleep that opens a named pipe, until another one opens the other end. */
const OPENING_PIPE = 'wait_for_partner'

/** Which of a process and those that it started wait for such a pipe; none where the system does not show it. */
export function waitingForPipe(pid: number): number[] {
  if (readProc(`${pid}/wchan`) === OPENING_PIPE) return [pid]
  const children = readProc(`${pid}/task/${pid}/children`)?.split(' ').filter(Boolean) ?? []
  return children.flatMap((child) => waitingForPipe(Number(child)))
}

/** The name of its program; null if it is not shown. */
export function processName(pid: number): string | null {
  return readProc(`${pid}/comm`)?.trim() ?? null
}

/** The id of its real user; null if it is not shown. */
export function processUser(pid: number): number | null {
  const found = /^Uid:\s+(\d+)/m.exec(readProc(`${pid}/status`) ?? '')?.[1]
  return found === undefined ? null : Number(found)
}

/** Its initial environment as `NAME=value` entries; empty for a zombie, null if not readable. */
export function processEnvironment(pid: number): string[] | null {
  return readProc(`${pid}/environ`)?.split('\0') ?? null
}

/** Its mount namespace, for comparison; null if not readable. */
export function mountNamespace(pid: number | 'self'): string | null {
  return readProcLink(`${pid}/ns/mnt`)
}

/** The mount points it sees, in the notation of proc_pid_mountinfo(5); empty if not readable. */
export function mountPathsOf(pid: number): string[] {
  const lines = readProc(`${pid}/mountinfo`)?.split('\n') ?? []
  return lines.map((line) => line.split(' ', 5)[4] ?? '')
}

/** Processes with more open descriptors are not searched, since that would block the service. */
const MAX_DESCRIPTORS = 20_000

/** Whether a process has the socket open; null if its descriptors are not readable or too many. */
export function holdsSocket(pid: number, inode: string): boolean | null {
  const folder = `${pid}/fd`
  const names = openProcFolder(folder)
  if (names === null) return processStat(pid) === null ? false : null
  const wanted = `socket:[${inode}]`
  let count = 0
  for (const name of names) {
    if (count++ === MAX_DESCRIPTORS) return null
    if (readProcLink(`${folder}/${name}`) === wanted) return true
  }
  return false
}

/**
 * The TCP connections of this network namespace, IPv4 and IPv6, as proc(5) describes net/tcp; null if they
 * are not shown. Uses `self`, which also exists where only processes are shown.
 */
export function tcpTable(): string | null {
  const [four, six] = ['tcp', 'tcp6'].map((name) => readProc(`self/net/${name}`))
  return four || six ? `${four ?? ''}${six ?? ''}` : null
}

/** Columns of net/unix, see proc(5): `Flags` of a listening socket, `Inode`, `Path`. */
const LISTENING = /^\S+ \S+ \S+ 00010000 \S+ \S+ +(\d+) (.*)$/

/** The process that listens on a local socket; null if it belongs to another user or is not shown. `likely` is tried first. */
export function findListener(address: string, likely?: number): number | null {
  const inode = listeningInode(address)
  if (inode === undefined) return null
  const pids = likely === undefined ? processIds() : [likely, ...processIds()]
  return pids.find((pid) => holdsSocket(pid, inode) === true) ?? null
}

/** Whether any process listens on a local socket, as far as the system shows it. */
export function isListening(address: string): boolean {
  return listeningInode(address) !== undefined
}

function listeningInode(address: string): string | undefined {
  const path = address.replaceAll('\0', '@')
  const sockets = (readProc('net/unix') ?? '').split('\n').map((line) => LISTENING.exec(line))
  return sockets.find((columns) => columns?.[2] === path)?.[1]
}

/** The user whose process listens at this port of 127.0.0.1; null if none does. */
export function listeningUser(port: number): number | null {
  const at = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  for (const line of (readProc('self/net/tcp') ?? '').split('\n')) {
    const [, local, , state, , , , user] = line.trim().split(/\s+/)
    if (state === '0A' && /^(?:0100007F|7F000001)/.test(local ?? '') && local!.endsWith(at))
      return Number(user)
  }
  return null
}
