import { endianness } from 'node:os'
import { holdsSocket, processIds, tcpTable } from './process-facts.ts'
import { type MarkedRun, membersOf } from './run-members.ts'

/** A TCP connection of this machine over IPv4, from our side. */
export interface Connection {
  local: Endpoint
  remote: Endpoint
}

interface Endpoint {
  address: string
  port: number
}

/** Who sent what came over a connection, as far as that can be told. */
export type Sender<R> =
  | { kind: 'run'; run: R; pid: number }
  /** A process of no run, or of another user; everybody where no connection is shown. */
  | { kind: 'other' }
  /** No process has it that we see: one that is ending, whose files are gone first; or one of another container. */
  | { kind: 'unseen' }
  /** `gone`: it has closed its end; `hidden`: it may be a process of a run that keeps its files from us. */
  | { kind: 'unknown'; why: 'gone' | 'hidden' }

/**
 * Whether the other end of the connection is held by a process of a run, alone or with others. A look
 * takes some 20 ms with 300 processes, and nothing else happens meanwhile. Linux only.
 */
export function senderOf<R extends MarkedRun>(
  connection: Connection,
  runs: readonly R[],
): Sender<R> {
  const socket = theirSocket(connection)
  if (socket === 'gone') return { kind: 'unknown', why: 'gone' }
  if (socket === 'elsewhere') return { kind: 'other' }
  const members = membersOf(runs)
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

/** The files of another user's processes are shown to root alone. */
function isOfAnotherUser({ user }: { user: string }): boolean {
  const us = process.getuid?.()
  return us !== 0 && user !== String(us)
}

/** Whoever asks for something and waits is among the newest processes as a rule. */
function isHeldOutside(members: ReadonlyMap<number, unknown>, inode: string): boolean {
  const others = processIds().filter((pid) => !members.has(pid))
  return others.reverse().some((pid) => holdsSocket(pid, inode) === true)
}

const ESTABLISHED = '01'
/** The kernel shows the table bit by bit, so that a row can be missed while others go. */
const LOOKS = 3

type Socket = { inode: string; user: string } | 'gone' | 'elsewhere'

/** `elsewhere`: the connection stands, and its other end is in no namespace that we see; or none is shown. */
function theirSocket({ local, remote }: Connection): Socket {
  for (let look = 1; ; look++) {
    const table = tcpTable()
    if (table === null) return 'elsewhere'
    const theirs = rowOf(table, remote, local)
    if (theirs) return theirs.inode === '0' ? 'gone' : theirs
    const isOpen = rowOf(table, local, remote)?.state === ESTABLISHED
    if (look === LOOKS) return isOpen ? 'elsewhere' : 'gone'
  }
}

interface Row {
  state: string
  /** The id of the user whose process made it. */
  user: string
  /** `0` for a connection whose end no process has open any more. */
  inode: string
}

function rowOf(table: string, from: Endpoint, to: Endpoint): Row | null {
  for (const prefix of ['', MAPPED]) {
    const start = table.indexOf(` ${prefix}${hexOf(from)} ${prefix}${hexOf(to)} `)
    if (start === -1) continue
    const fields = table.slice(start).split('\n', 1)[0]!.trim().split(/ +/)
    return { state: fields[2] ?? '', user: fields[6] ?? '', inode: fields[8] ?? '0' }
  }
  return null
}

const isLittle = endianness() === 'LE'
/** What stands before an IPv4 address in an IPv6 one: 0000:0000:0000:0000:0000:ffff. */
const MAPPED = `0000000000000000${isLittle ? 'FFFF0000' : '0000FFFF'}`

/** The kernel prints the address as a number of the machine, and the port as it is. */
function hexOf({ address, port }: Endpoint): string {
  const bytes = address
    .replace(/^::ffff:/i, '')
    .split('.')
    .map(Number)
  const word = Buffer.from(isLittle ? bytes.reverse() : bytes)
  const hex = `${word.toString('hex')}:${port.toString(16).padStart(4, '0')}`
  return hex.toUpperCase()
}
