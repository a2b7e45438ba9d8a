/** Checks a replaced file for a late save. Called by `late-saves.ts` each time a file is due. */

import { setTimeout as delay } from 'node:timers/promises'
import type { ReplacedFile, Stamped } from '../../files/replace-seen.ts'
import { createStabilityDetector } from '../sync/stability.ts'
import type { MergeLateSave } from './merge-late-save.ts'
import { type FileOfCase, keepPreImage, renamePreImage } from './pre-images.ts'
import { isUntouched, readReplacedFile, releaseReplacedFile } from './replaced-file.ts'

/** A file that the service replaced while an editor may still have it open. */
export interface TrackedFile extends FileOfCase {
  at: ReplacedFile
  /** The bytes that are safe: those the service read, or those of a merged late save. */
  base: Buffer
  /** The stamp at which the file contained `base`; null if a stamp proves nothing. */
  stamped: Stamped | null
  /** When it was first seen to differ from `base`. */
  changedAt: number | null
  /** It is checked until then, as an editor may write more. */
  recheckUntil: number
}

interface RecheckDeps {
  folder: string
  mergeLateSave: MergeLateSave
  mayWrite(): Promise<void>
  onMerged(caseId: string): void
  /** The time between two checks of one file. */
  recheckMs: number
  log(line: string): void
}

/** An editor may save in several pieces. After this time without a write it is done. */
const QUIET_MS = 2000
/** A file that is written continuously is merged this often. */
const MAX_UNSTABLE_MS = 3000

/**
 * Returns a function that checks whether an editor saved into a replaced file, merges a complete save, and releases
 * the file when the editor is done. It returns in how many ms to check again; 0 when the file is released. The last
 * check, when the service stops, waits for a half-written save, but leaves an emptied file to the next start.
 */
export function createRecheck(deps: RecheckDeps) {
  const { folder, mergeLateSave, log, recheckMs } = deps
  const stability = createStabilityDetector()

  return async function recheck(tracked: TrackedFile, isLast: boolean): Promise<number> {
    const found = isUntouched(tracked.at, tracked.stamped) ? null : readReplacedFile(tracked.at)
    if (found && !found.bytes.equals(tracked.base)) {
      const isEmpty = found.bytes.length === 0
      if (isLast && isEmpty && typeof tracked.at === 'string') return 0
      const now = performance.now()
      tracked.changedAt ??= now
      const isRecent = now - tracked.changedAt < MAX_UNSTABLE_MS
      const unstableMs = stability.remainingMs(
        String(tracked.at),
        found.stats,
        isEmpty ? 'unreadable' : 'truncated',
      )
      if (unstableMs > 0 && isRecent) {
        if (!isLast) return Math.min(unstableMs, recheckMs)
        await delay(unstableMs)
        return recheck(tracked, isLast)
      }
      if (isEmpty) tracked.recheckUntil = tracked.changedAt + QUIET_MS
      else {
        const result = await mergeFrom(tracked, found.bytes, isRecent && !isLast)
        if (result === 'busy') return recheckMs
        if (result === 'case_deleted') return 0
      }
    }
    if (!isLast && performance.now() < tracked.recheckUntil) return recheckMs
    stability.forget(String(tracked.at))
    await releaseReplacedFile(tracked.at)
    return 0
  }

  async function mergeFrom(tracked: TrackedFile, theirs: Buffer, isPatient: boolean) {
    const { id, file, base } = tracked
    await deps.mayWrite()
    const result = await mergeLateSave({ id, file, base, theirs }, isPatient)
    if (result === 'case_deleted') {
      const path = await keepPreImage(folder, tracked)
      log(`case ${id} was deleted; a late save of its ${file} stays at ${path}`)
    }
    if (result === 'safe') {
      deps.onMerged(id)
      Object.assign(tracked, { base: theirs, stamped: null, changedAt: null })
      tracked.recheckUntil = performance.now() + QUIET_MS
      tracked.at = await renamePreImage(folder, tracked)
    }
    return result
  }
}
