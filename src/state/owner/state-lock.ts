/** The lock in the state folder, beside the record of its owner: for machines that share the folder over a network. */

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
  type Owner,
  readOwner,
  removeOwner,
  writeOwner,
} from './owner-file.ts'

export interface HeldLock {
  /** Aborted with an AppError as its reason when another process has the lock or it cannot be taken again. */
  readonly lost: AbortSignal
  /** Adds the address of the service to the record. */
  announce(url: string): void
  release(): Promise<void>
}

type Unlock = () => Promise<void>

/** Another machine writes its record right after taking the lock. */
const RECORD_MS = 300

/**
 * Takes the lock; frees it first if its owner has ended or never wrote its record. If two processes free it at the same
 * moment, the first notices within 5 s that it has lost it.
 */
export async function holdLock(stateDir: string, owner: Owner): Promise<HeldLock> {
  let me = owner
  const lockfilePath = join(stateDir, 'owner.lock')
  const lost = new AbortController()
  let isReleased = false
  const removeLock = () => rm(lockfilePath, { recursive: true, force: true })
  const options = { lockfilePath, realpath: false, stale: 15_000, update: 5_000, onCompromised }

  async function take(): Promise<Unlock> {
    const unlock = await lockOrFree()
    try {
      await writeOwner(stateDir, me)
      return unlock
    } catch (error) {
      await unlock()
      throw error
    }
  }

  async function lockOrFree(): Promise<Unlock> {
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await lock(stateDir, options)
      } catch (error) {
        // the last two: it is stale but not an empty folder
        if (attempt === 3 || !hasCode(error, 'ELOCKED', 'ENOTEMPTY', 'ENOTDIR')) throw error
        if (hasCode(error, 'ELOCKED')) {
          if ((await readOwner(stateDir)) === null) await delay(RECORD_MS)
          await mustBeFree(isGone)
        }
      }
      await removeLock()
    }
  }

  async function mustBeFree(isFree: (record: Owner) => boolean): Promise<void> {
    const record = await readOwner(stateDir)
    if (record && !isSame(record, me) && !isFree(record))
      throw alreadyActive('state folder', record)
  }

  /** Takes the lock again after it was changed, removed, or became stale while the machine slept. */
  async function retake(): Promise<Unlock> {
    await mustBeFree(() => false)
    await makeFolder(stateDir, 0o700)
    await removeLock()
    return take()
  }

  function onCompromised(): void {
    if (isReleased) return
    held = retake()
    held.catch((cause) => {
      const message =
        'This process no longer owns the memory root: its lock could not be taken again.'
      lost.abort(
        cause instanceof AppError ? cause : new AppError('storage_failed', message, { cause }),
      )
    })
  }

  let held = take()
  await held

  async function release(): Promise<void> {
    if (isReleased) return
    isReleased = true
    await Promise.allSettled([held])
    if (lost.signal.aborted) return
    await removeOwner(stateDir)
    try {
      await (await held)()
    } catch (error) {
      // lost just now, or it contains a file such as .DS_Store: the next owner frees it
      if (!hasCode(error, 'ERELEASED', 'ENOTEMPTY')) throw error
    }
  }

  function announce(url: string): void {
    me = { ...me, url }
    // a failed write only leaves the record without the address
    const written = () => writeOwner(stateDir, me).catch(() => {})
    held = held.then((unlock) => written().then(() => unlock))
    held.catch(() => {}) // `lost` says so
  }

  return { lost: lost.signal, announce, release }
}
