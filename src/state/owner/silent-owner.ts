/** Finds out who owns a memory root if its owner does not answer. */

import { findListener } from '../../platform/processes.ts'
import { isGone, isStopped, type OwnerRecord, readRecord, recordOf } from './owner-record.ts'

export interface SilentOwner extends OwnerRecord {
  /** Suspended by a signal (SIGSTOP, Ctrl-Z): it does not answer until it is continued. */
  stopped?: true
  /** True if it has no record in this state folder, so it may be a service or a command. */
  unrecorded?: true
}

/**
 * Finds an owner that does not answer on its socket, by the processes that the system shows, or by the record in this state folder, which may be of
 * another process. Null if neither has one.
 */
export async function findSilentOwner(
  address: string,
  stateDir: string,
): Promise<SilentOwner | null> {
  const left = await readRecord(stateDir)
  const record = left && !isGone(left) ? left : null
  const pid = findListener(address)
  const owner: SilentOwner | null =
    pid === null || record?.pid === pid ? record : { ...recordOf(pid), unrecorded: true }
  return owner && isStopped(owner) ? { ...owner, stopped: true } : owner
}
