/** Finds out who owns a memory root if its owner does not answer. */

import { readdir, readFile, readlink } from 'node:fs/promises'
import { hasCode } from '../../files/errno.ts'
import { isGone, isStopped, type OwnerRecord, readRecord, recordOf } from './owner-record.ts'

export interface SilentOwner extends OwnerRecord {
  /** Suspended by a signal (SIGSTOP, Ctrl-Z): it does not answer until it is continued. */
  stopped?: true
  /** True if it has no record in this state folder, so it may be a service or a command. */
  unrecorded?: true
}

/**
 * Finds an owner that does not answer on its socket, by /proc or by the record in this state folder, which may be of
 * another process. Null if neither has one.
 */
export async function findSilentOwner(
  address: string,
  stateDir: string,
): Promise<SilentOwner | null> {
  const left = await readRecord(stateDir)
  const record = left && !(await isGone(left)) ? left : null
  const pid = await holderOf(address)
  const owner: SilentOwner | null =
    pid === null || record?.pid === pid ? record : { ...(await recordOf(pid)), unrecorded: true }
  return owner && (await isStopped(owner)) ? { ...owner, stopped: true } : owner
}

/** Columns of /proc/net/unix, see proc(5): `Flags` of a listening socket, `Inode`, `Path`. */
const LISTENING = /^\S+ \S+ \S+ 00010000 \S+ \S+ +(\d+) (.*)$/

/** The pid of the process that listens there; null for another user's process, or without Linux /proc. */
async function holderOf(address: string): Promise<number | null> {
  const path = address.replaceAll('\0', '@')
  const sockets = (await unlessGone(readFile('/proc/net/unix', 'utf8'))) ?? ''
  const found = sockets.split('\n').map((line) => LISTENING.exec(line))
  const inode = found.find((columns) => columns?.[2] === path)?.[1]
  if (inode === undefined) return null
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    if (await hasOpen(`/proc/${pid}/fd`, `socket:[${inode}]`)) return Number(pid)
  }
  return null
}

async function hasOpen(folder: string, target: string): Promise<boolean> {
  for (const fd of (await unlessGone(readdir(folder))) ?? []) {
    if ((await unlessGone(readlink(`${folder}/${fd}`))) === target) return true
  }
  return false
}

/** Null if the process has ended or belongs to another user. */
async function unlessGone<T>(reading: Promise<T>): Promise<T | null> {
  try {
    return await reading
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ESRCH', 'EACCES', 'EPERM')) return null
    throw error
  }
}
