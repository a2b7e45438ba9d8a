import { readdir, readFile, readlink } from 'node:fs/promises'
import { hasCode } from '../../files/errno.ts'
import { isGone, isStopped, type OwnerRecord, readRecord, recordOf } from './owner-record.ts'

export interface MuteOwner extends OwnerRecord {
  /** By a signal (SIGSTOP, Ctrl-Z): it answers nobody until it goes on. */
  stopped?: true
  /** It left no record here, so that it may be a service or a command. */
  unsaid?: true
}

/**
 * Who holds an address and does not say so: by what the system knows of the process, and by the record in
 * this state folder, which may be another one's. Null where neither tells.
 */
export async function muteOwner(address: string, stateDir: string): Promise<MuteOwner | null> {
  const left = await readRecord(stateDir)
  const record = left && !(await isGone(left)) ? left : null
  const pid = await holderOf(address)
  const owner: MuteOwner | null =
    pid === null || record?.pid === pid ? record : { ...(await recordOf(pid)), unsaid: true }
  return owner && (await isStopped(owner)) ? { ...owner, stopped: true } : owner
}

/** As proc(5) and the columns of /proc/net/unix have it: `Flags` of a listening socket, `Inode`, `Path`. */
const LISTENING = /^\S+ \S+ \S+ 00010000 \S+ \S+ +(\d+) (.*)$/

/** The pid of the process that listens there; null for another user's, and where there is no Linux /proc. */
async function holderOf(address: string): Promise<number | null> {
  const path = address.replaceAll('\0', '@')
  const sockets = (await unlessAway(readFile('/proc/net/unix', 'utf8'))) ?? ''
  const found = sockets.split('\n').map((line) => LISTENING.exec(line))
  const inode = found.find((columns) => columns?.[2] === path)?.[1]
  if (inode === undefined) return null
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    if (await hasOpen(`/proc/${pid}/fd`, `socket:[${inode}]`)) return Number(pid)
  }
  return null
}

async function hasOpen(folder: string, target: string): Promise<boolean> {
  for (const fd of (await unlessAway(readdir(folder))) ?? []) {
    if ((await unlessAway(readlink(`${folder}/${fd}`))) === target) return true
  }
  return false
}

/** Null of a process that has ended meanwhile, or is another user's. */
async function unlessAway<T>(reading: Promise<T>): Promise<T | null> {
  try {
    return await reading
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ESRCH', 'EACCES', 'EPERM')) return null
    throw error
  }
}
