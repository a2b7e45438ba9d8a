import { fstatSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { closeDescriptor, readDescriptor } from '../../files/descriptors.ts'
import type { ReplacedFileTracker } from '../../files/replace-seen.ts'
import { isHalfSaved, type MergeDeps, mergeLateSave } from './merge-late-save.ts'
import type { FileOfCase, ReplacedFileTrackers } from './trackers.ts'

/**
 * Finds saves that come between the service's last check of a file and the rename that replaces it. An editor that had
 * the replaced file open writes into a file without a name. The service keeps its descriptor for a moment, checks it,
 * and merges a save into the new file or writes a conflict copy beside it (docs/files.md#edits-by-hand). If the service
 * is killed before that, the save is lost.
 */
export interface LateSaves extends ReplacedFileTrackers {
  /** Checks every replaced file now. Resolves when all late saves are merged or copied, and all files are closed. */
  idle(): Promise<void>
}

export interface LateSavesDeps extends Omit<MergeDeps, 'trackerFor'> {
  /** Resolves when files may be written; rejects if they will not become writable. */
  mayWrite(): Promise<void>
  /** Called when files of a case were changed. */
  onMerged(caseId: string): void
  /** An editor that has opened a file begins to write within this time. */
  recheckMs: number
}

/** A replaced file, open. */
interface ReplacedFile extends FileOfCase {
  fd: number
  /** The bytes that are safe: those the service read, or those of a merged late save. */
  base: Buffer
  /** When it was first seen to differ from `base`. */
  changedAt: number | null
  hasFailed: boolean
}

/** If more files are open, the oldest are checked early and closed. */
const MAX_OPEN = 128
const MAX_OPEN_BYTES = 64 * 1024 * 1024
/** Larger files are not read. No editor turns a case file into one. */
const MAX_BYTES = 64 * 1024 * 1024
/** An editor may save in several pieces. After this time without a write it is done. */
const QUIET_MS = 400
const HALF_SAVED_MS = 800
/** A file that is written continuously is merged this often. One that stays empty is not a save. */
const MAX_UNSTABLE_MS = 3000
/** Delay before retrying a failed merge, for example when the disk is full. */
const RETRY_MS = 5000

export function createLateSaves(deps: LateSavesDeps): LateSaves {
  const { mutex, log } = deps
  /** The open files with the timers of their next checks, oldest first. */
  const waiting = new Map<ReplacedFile, NodeJS.Timeout>()
  const checking = new Set<Promise<void>>()

  function trackerFor({ id, file }: FileOfCase, base: Buffer): ReplacedFileTracker {
    return (fd, isSave) => {
      const changedAt = isSave ? Number.NEGATIVE_INFINITY : null
      wait({ id, file, fd, base, changedAt, hasFailed: false }, isSave ? 0 : deps.recheckMs)
      let bytes = 0
      for (const each of waiting.keys()) bytes += each.base.length
      for (const oldest of waiting.keys()) {
        if (waiting.size <= MAX_OPEN && bytes <= MAX_OPEN_BYTES) break
        bytes -= oldest.base.length
        begin(oldest, true)
      }
    }
  }

  function wait(replaced: ReplacedFile, ms: number): void {
    waiting.set(replaced, setTimeout(begin, ms, replaced, false).unref())
  }

  function begin(replaced: ReplacedFile, isLast: boolean): void {
    clearTimeout(waiting.get(replaced))
    waiting.delete(replaced)
    const work = checkOrRetry(replaced, isLast).finally(() => checking.delete(work))
    checking.add(work)
  }

  async function checkOrRetry(replaced: ReplacedFile, isLast: boolean): Promise<void> {
    let againMs = 0
    try {
      againMs = await check(replaced, isLast)
    } catch (error) {
      const { id, file, hasFailed } = replaced
      const state = isLast ? 'is lost' : 'is not merged yet'
      if (isLast || !hasFailed)
        log(`a late save of ${file} in case ${id} ${state}: ${String(error)}`)
      replaced.hasFailed = true
      againMs = RETRY_MS
    }
    if (againMs > 0 && !isLast) wait(replaced, againMs)
    else await closeDescriptor(replaced.fd)
  }

  /**
   * Merges a complete save. Returns in how many ms to check again; 0 when the editor is done. The last check waits for
   * a half-written save.
   */
  async function check(replaced: ReplacedFile, isLast: boolean): Promise<number> {
    const { id, file, fd, base } = replaced
    const stats = fstatSync(fd)
    const theirs = readDescriptor({ fd, stats }, MAX_BYTES)
    if (!theirs) throw new Error(`it has more than ${MAX_BYTES} bytes`)
    if (theirs.equals(base)) return 0
    replaced.changedAt ??= performance.now()
    const patienceMs = replaced.changedAt + MAX_UNSTABLE_MS - performance.now()
    const quietMs = isHalfSaved(theirs, base) ? HALF_SAVED_MS : QUIET_MS
    const unstableMs = Math.min(stats.ctimeMs + quietMs - Date.now(), patienceMs)
    if (unstableMs > 0) {
      if (!isLast) return unstableMs
      await delay(unstableMs)
      return check(replaced, isLast)
    }
    if (theirs.length === 0) return Math.max(Math.min(patienceMs, HALF_SAVED_MS), 0)
    const mayReplace = await mayWrite(isLast)
    await mutex.run(id, () =>
      mergeLateSave({ ...deps, trackerFor }, { id, file, base, theirs }, mayReplace),
    )
    deps.onMerged(id)
    Object.assign(replaced, { base: theirs, changedAt: null, hasFailed: false })
    return QUIET_MS
  }

  /** Returns false at the last check: then a conflict copy, which replaces nothing, is better than nothing. */
  async function mayWrite(isLast: boolean): Promise<boolean> {
    try {
      await deps.mayWrite()
      return true
    } catch (error) {
      if (isLast) return false
      throw error
    }
  }

  async function idle(): Promise<void> {
    while (waiting.size + checking.size > 0) {
      for (const replaced of waiting.keys()) begin(replaced, true)
      await Promise.all(checking)
    }
  }

  return { trackerFor, idle }
}
