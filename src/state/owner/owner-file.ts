/** The owner's record in the state folder, and checks whether its process is alive. */

import { rm } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { writeVolatile } from '../../files/durable-write.ts'
import { readRegular } from '../../files/safe-read.ts'
import { AppError } from '../../model/app-error.ts'
import { bootId, exists, processStart, processStat } from '../../platform/processes.ts'

const LOOPBACK_URL = /^http:\/\/(127\.0\.0\.1|localhost|\[::1\])(:\d+)?\/?$/

/**
 * An owner, as its record and its answer describe it. `started` and `bootId` identify the process besides its pid, which
 * the system reuses; null if unknown.
 */
export interface Owner {
  pid: number
  /** Start time of the process, in clock ticks since boot. */
  started: string | null
  bootId: string | null
  host: string
  /** True for a command, which ends by itself. */
  short?: true
  /** The loopback address of the service, in its answer. `foreign-owner.ts` says whether to believe it. */
  url?: string
  /** It did not answer: it is busy, hangs, or is suspended by a signal (SIGSTOP, Ctrl-Z). */
  silent?: true
}

export function thisProcess(): Owner {
  return ownerOf(process.pid)
}

/** Describes the owner, as a process on this machine sees it. */
export function ownerOf(pid: number): Owner {
  return {
    pid,
    started: processStart(pid),
    bootId: bootId(),
    host: hostname(),
  }
}

/** Whether the process has certainly ended; unknown for another machine. */
export function isGone(record: Owner): boolean {
  const me = thisProcess()
  if (record.host !== me.host) return false
  if (record.bootId && me.bootId && record.bootId !== me.bootId) return true
  if (!exists(record.pid)) return true
  const status = processStat(record.pid)
  if (status === null) return false
  return 'ZX'.includes(status.state) || (record.started !== null && record.started !== status.start)
}

export function isSame(a: Owner, b: Owner): boolean {
  return a.pid === b.pid && a.started === b.started && a.bootId === b.bootId && a.host === b.host
}

export async function readOwner(stateDir: string): Promise<Owner | null> {
  const read = await readRegular(ownerPath(stateDir), { maxBytes: 4096 })
  return read.ok ? parseAnswer(read.bytes.toString()) : null
}

export async function writeOwner(stateDir: string, record: Owner): Promise<void> {
  const text = `${JSON.stringify(record)}\n`
  await writeVolatile(ownerPath(stateDir), Buffer.from(text), 0o600)
}

export async function removeOwner(stateDir: string): Promise<void> {
  await rm(ownerPath(stateDir), { force: true })
}

/** Returns null if it is not a record. */
export function parseAnswer(text: string): Owner | null {
  const { pid, started, bootId, host, short, url } = parseObject(text)
  if (!Number.isSafeInteger(pid) || Number(pid) < 1 || typeof host !== 'string') return null
  return {
    ...(short === true ? { short } : {}),
    ...(typeof url === 'string' && LOOPBACK_URL.test(url) ? { url } : {}),
    pid: Number(pid),
    started: typeof started === 'string' ? started : null,
    bootId: typeof bootId === 'string' ? bootId : null,
    host,
  }
}

/** Error for a `what` that is owned by another process; null if the owner is unknown. */
export function alreadyActive(what: string, owner: Owner | null): AppError {
  const url = owner?.url ? ` at ${owner.url}` : ''
  const host = owner && owner.host !== hostname() ? ` on ${owner.host}` : ''
  const who = owner ? `process ${owner.pid}${host}${url}` : 'a process whose pid is unknown'
  const next = owner?.silent
    ? remedyOfSilent(owner.pid)
    : owner?.short === true
      ? 'It is a command that ends by itself. Try again then.'
      : 'Use that service, or stop it and start this one again.'
  return new AppError(
    'already_active',
    `Casefile already runs for this ${what}: ${who}${owner?.silent ? ' (not answering)' : ''}. ${next}`,
    { extra: { owner } },
  )
}

/** What to do about an owner that does not answer; a plain kill does not end a suspended one. */
export function remedyOfSilent(pid: number): string {
  return `If it was stopped by a signal, have it go on (kill -CONT ${pid}). If it hangs, end it (kill -KILL ${pid}).`
}

/** Whether an error means that the memory root or its state folder has another owner. */
export function isTaken(error: unknown): error is AppError {
  return error instanceof AppError && error.code === 'already_active' && 'owner' in error.extra
}

/** The owner in such an error, if it is known. */
export function ownerIn({ extra }: AppError): Owner | null {
  return (extra.owner ?? null) as Owner | null
}

function ownerPath(stateDir: string): string {
  return join(stateDir, 'owner.json')
}

function parseObject(text: string): Record<string, unknown> {
  try {
    return { ...JSON.parse(text) }
  } catch (error) {
    if (error instanceof SyntaxError) return {}
    throw error
  }
}
