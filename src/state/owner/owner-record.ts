/** The owner's record in the state folder, and checks whether its process is alive. */

import { rm } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { writeDurable } from '../../files/durable-write.ts'
import { readRegular } from '../../files/safe-read.ts'
import { AppError } from '../../model/app-error.ts'
import { bootId, exists, processStart, processStat } from '../../platform/processes.ts'

const LOOPBACK_URL = /^http:\/\/(127\.0\.0\.1|localhost|\[::1\])(:\d+)?\/?$/

/** Identifies a process besides its pid, which the system reuses; null fields if unknown. */
export interface OwnerRecord {
  pid: number
  /** Start time of the process, in clock ticks since boot. */
  started: string | null
  bootId: string | null
  host: string
  /** True for a command, which ends by itself. */
  short?: true
}

/**
 * The owner's answer: the record and its URL. `mustBeOfThisUser` says whether to believe it; `url` is checked to be a loopback
 * address.
 */
export type OwnerAnswer = OwnerRecord & { url?: string; [more: string]: unknown }

export function thisProcess(): OwnerRecord {
  return recordOf(process.pid)
}

/** Describes the owner, as a process on this machine sees it. */
export function recordOf(pid: number): OwnerRecord {
  return {
    pid,
    started: processStart(pid),
    bootId: bootId(),
    host: hostname(),
  }
}

/** Whether the process has certainly ended; unknown for another machine. */
export function isGone(record: OwnerRecord): boolean {
  const me = thisProcess()
  if (record.host !== me.host) return false
  if (record.bootId && me.bootId && record.bootId !== me.bootId) return true
  if (!exists(record.pid)) return true
  const status = processStat(record.pid)
  if (status === null) return false
  return 'ZX'.includes(status.state) || (record.started !== null && record.started !== status.start)
}

/** Whether a process on this machine is suspended by a signal. */
export function isStopped(record: OwnerRecord): boolean {
  return record.host === hostname() && processStat(record.pid)?.state === 'T'
}

export function isSame(a: OwnerRecord, b: OwnerRecord): boolean {
  return a.pid === b.pid && a.started === b.started && a.bootId === b.bootId && a.host === b.host
}

export async function readRecord(stateDir: string): Promise<OwnerAnswer | null> {
  const read = await readRegular(recordPath(stateDir), { maxBytes: 4096 })
  return read.ok ? parseAnswer(read.bytes.toString()) : null
}

export async function writeRecord(stateDir: string, record: OwnerRecord): Promise<void> {
  const text = `${JSON.stringify(record)}\n`
  await writeDurable(recordPath(stateDir), Buffer.from(text), { mode: 0o600 })
}

export async function removeRecord(stateDir: string): Promise<void> {
  await rm(recordPath(stateDir), { force: true })
}

/** Returns null if it is not a record. */
export function parseAnswer(text: string | null): OwnerAnswer | null {
  const value = parseObject(text)
  if (value === null) return null
  const { pid, started, bootId, host, url, ...more } = value
  if (!Number.isSafeInteger(pid) || Number(pid) < 1 || typeof host !== 'string') return null
  return {
    ...more,
    ...(typeof url === 'string' && LOOPBACK_URL.test(url) ? { url } : {}),
    pid: Number(pid),
    started: typeof started === 'string' ? started : null,
    bootId: typeof bootId === 'string' ? bootId : null,
    host,
  }
}

/** Error for a `what` that is owned by another process; null if the owner is unknown. */
export function alreadyActive(
  what: string,
  owner: (OwnerRecord & { url?: string; short?: unknown; stopped?: unknown }) | null,
  more = '',
): AppError {
  const url = owner?.url ? ` at ${owner.url}` : ''
  const host = owner && owner.host !== hostname() ? ` on ${owner.host}` : ''
  const who = owner ? `process ${owner.pid}${host}${url}` : 'a process whose pid is unknown'
  const next =
    owner?.stopped === true
      ? remedyOfStopped(owner.pid)
      : owner?.short === true
        ? 'It is a command, and ends by itself: try again then.'
        : 'Use that one, or stop it and start again.'
  return new AppError(
    'already_active',
    `Another casefile owns this ${what}: ${who}${more}. ${next}`,
    { extra: { owner } },
  )
}

/** What to do about a suspended owner, which a plain kill does not end. */
export function remedyOfStopped(pid: number): string {
  return `It was stopped by a signal: have it go on (kill -CONT ${pid}), or end it (kill -KILL ${pid}).`
}

/** Whether an error means that the memory root or its state folder has another owner. */
export function isTaken(error: unknown): error is AppError {
  return error instanceof AppError && error.code === 'already_active' && 'owner' in error.extra
}

/** The owner in such an error, if it is known. */
export function ownerIn({ extra }: AppError): OwnerAnswer | null {
  return (extra.owner ?? null) as OwnerAnswer | null
}

function recordPath(stateDir: string): string {
  return join(stateDir, 'owner.json')
}

function parseObject(text: string | null): Record<string, unknown> | null {
  if (text === null) return null
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? { ...value } : null
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}
