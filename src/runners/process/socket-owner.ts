import { endianness } from 'node:os'
import ipaddr from 'ipaddr.js'
import { holdsSocket, processIds, tcpTable } from '../../platform/processes.ts'
import { findRunProcesses, type IdentifiedRun } from './run-processes.ts'

/** A TCP connection on this machine, seen from our side. */
export interface Connection {
  local: Endpoint
  remote: Endpoint
}

interface Endpoint {
  address: string
  port: number
}

/** The sender of a request, as far as it can be determined. */
export type Sender<R> =
  | { kind: 'run'; run: R; pid: number }
  /** A process outside all runs, or of another user; always, if the system shows no connections. */
  | { kind: 'other' }
  /** No visible process has the socket: its process is just exiting, or is in another container. */
  | { kind: 'unseen' }
  /** `gone`: the sender closed its end; `hidden`: it may be a run's process whose descriptors are not readable. */
  | { kind: 'unknown'; why: 'gone' | 'hidden' }

/**
 * Whether a process of a run holds the other end of the connection, alone or together with others. Takes about 20
 * ms with 300 processes, synchronously. Linux only.
 */
export function findSocketOwner<R extends IdentifiedRun>(
  connection: Connection,
  runs: readonly R[],
): Sender<R> {
  const socket = findPeerSocket(connection)
  if (socket === 'gone') return { kind: 'unknown', why: 'gone' }
  if (socket === 'elsewhere') return { kind: 'other' }
  const members = findRunProcesses(runs)
  let hidden = false
  for (const [pid, run] of members) {
    const holds = holdsSocket(pid, socket.inode)
    if (holds) return { kind: 'run', run, pid }
    hidden ||= holds === null
  }
  if (isHeldOutside(members, socket.inode)) return { kind: 'other' }
  if (hidden) return { kind: 'unknown', why: 'hidden' }
  return isOfAnotherUser(socket) ? { kind: 'other' } : { kind: 'unseen' }
}

/** Only root can see the open files of another user's processes. */
function isOfAnotherUser({ user }: { user: string }): boolean {
  const us = process.getuid?.()
  return us !== 0 && user !== String(us)
}

/** Checks the newest processes first, since a client that waits for an answer is usually among them. */
function isHeldOutside(members: ReadonlyMap<number, unknown>, inode: string): boolean {
  const others = processIds().filter((pid) => !members.has(pid))
  return others.reverse().some((pid) => holdsSocket(pid, inode) === true)
}

const ESTABLISHED = '01'
/** The kernel returns the table in parts, so a row can be missed while others disappear. */
const LOOKS = 3

type Socket = { inode: string; user: string } | 'gone' | 'elsewhere'

/** `elsewhere`: the other end is in a namespace we cannot see, or the system shows no connections. */
function findPeerSocket({ local, remote }: Connection): Socket {
  for (let look = 1; ; look++) {
    const table = tcpTable()
    if (table === null) return 'elsewhere'
    const theirs = findRow(table, remote, local)
    if (theirs) return theirs.inode === '0' ? 'gone' : theirs
    const isOpen = findRow(table, local, remote)?.state === ESTABLISHED
    if (look === LOOKS) return isOpen ? 'elsewhere' : 'gone'
  }
}

interface Row {
  state: string
  /** The id of the user who created the socket. */
  user: string
  /** `0` if no process has the socket open any more. */
  inode: string
}

function findRow(table: string, from: Endpoint, to: Endpoint): Row | null {
  for (const prefix of ['', MAPPED]) {
    const start = table.indexOf(` ${prefix}${toHex(from)} ${prefix}${toHex(to)} `)
    if (start === -1) continue
    const fields = table.slice(start).split('\n', 1)[0]!.trim().split(/ +/)
    return { state: fields[2] ?? '', user: fields[6] ?? '', inode: fields[8] ?? '0' }
  }
  return null
}

const isLittle = endianness() === 'LE'
/** The prefix of an IPv4 address mapped to IPv6: 0000:0000:0000:0000:0000:ffff. */
const MAPPED = `0000000000000000${isLittle ? 'FFFF0000' : '0000FFFF'}`

/** The kernel prints each four bytes of an address in the machine's byte order, but not the port. */
function toHex({ address, port }: Endpoint): string {
  const bytes = Buffer.from(ipaddr.process(address).toByteArray())
  if (isLittle) bytes.swap32()
  const hex = `${bytes.toString('hex')}:${port.toString(16).padStart(4, '0')}`
  return hex.toUpperCase()
}
