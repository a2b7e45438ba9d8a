/**
 * The lock file in the state folder, for machines that share the folder over a network. On one machine the sockets
 * decide.
 */

import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { lock } from 'proper-lockfile'
import { makeFolder } from '../../files/durable-write.ts'
import { hasCode } from '../../files/errno.ts'
import { AppError } from '../../model/app-error.ts'
import {
  alreadyActive,
  isGone,
  isSame,
  type OwnerRecord,
  readRecord,
  removeRecord,
  writeRecord,
} from './owner-record.ts'

export interface HeldLock {
  /** Aborted with an AppError as its reason when another process has the lock or it cannot be taken again. */
  readonly lost: AbortSignal
  release(): Promise<void>
}

/**
 * Takes the lock in the state folder, beside the record of its owner. On one machine the sockets of `ownership.ts`
 * have already decided; this is for machines that share the folder. Trap: taking over a stale lock is not exclusive,
 * so only the owner of the state folder's socket may call this.
 */
export async function holdLock(stateDir: string, me: OwnerRecord): Promise<HeldLock> {
  const lost = new AbortController()
  let released = false
  let retaking = Promise.resolve()
  let unlock = await take()

  async function take(): Promise<() => Promise<void>> {
    const unlock = await lockOrFree(stateDir, me, () => {
      if (!released) retaking = retake()
    })
    try {
      await writeRecord(stateDir, me)
      return unlock
    } catch (error) {
      await unlock()
      throw error
    }
  }

  /** Takes the lock again after it was changed, removed, or became stale while the machine slept. */
  async function retake(): Promise<void> {
    try {
      const record = await readRecord(stateDir)
      if (record && !isSame(record, me)) throw alreadyActive('state folder', record)
      await makeFolder(stateDir, 0o700)
      await rm(lockPath(stateDir), { recursive: true, force: true })
      unlock = await take()
    } catch (cause) {
      const message =
        'This process no longer owns the memory root: its lock could not be taken again.'
      lost.abort(
        cause instanceof AppError ? cause : new AppError('storage_failed', message, { cause }),
      )
    }
  }

  async function release(): Promise<void> {
    if (released) return
    released = true
    await retaking
    if (lost.signal.aborted) return
    await removeRecord(stateDir)
    try {
      await unlock()
    } catch (error) {
      // lost just now, or it contains a file such as .DS_Store: the next owner frees it
      if (!hasCode(error, 'ERELEASED', 'ENOTEMPTY')) throw error
    }
  }

  return { lost: lost.signal, release }
}

/** A lock may be freed if its owner has ended or never wrote its record. */
async function lockOrFree(
  stateDir: string,
  me: OwnerRecord,
  onCompromised: () => void,
): Promise<() => Promise<void>> {
  const lockfilePath = lockPath(stateDir)
  const options = { lockfilePath, realpath: false, stale: 15_000, update: 5_000, onCompromised }
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await lock(stateDir, options)
    } catch (error) {
      // the last two: it is stale but not an empty folder
      if (attempt === 3 || !hasCode(error, 'ELOCKED', 'ENOTEMPTY', 'ENOTDIR')) throw error
      if (hasCode(error, 'ELOCKED')) await mustBeGone(stateDir, me)
    }
    await rm(lockfilePath, { recursive: true, force: true })
  }
}

async function mustBeGone(stateDir: string, me: OwnerRecord): Promise<void> {
  const record = (await readRecord(stateDir)) ?? (await lateRecord(stateDir))
  if (record && !isSame(record, me) && !isGone(record)) {
    throw alreadyActive('state folder', record)
  }
}

/** Another machine writes its record right after taking the lock; this leaves time for it. */
async function lateRecord(stateDir: string): Promise<OwnerRecord | null> {
  await delay(300)
  return readRecord(stateDir)
}

function lockPath(stateDir: string): string {
  return join(stateDir, 'owner.lock')
}
