/** Decides whether a changed file is accepted: it is once it looks complete, or did not change for a while. */

import { type FileStamp, sameStamp } from '../../files/safe-read.ts'

/** Knows since when half-saved files have not changed. */
export interface StabilityDetector {
  /** Returns in how many ms a half-saved file with this stamp is accepted; null if the file is deleted. */
  remainingMs(path: string, stamp: FileStamp | null): number
  /** Forgets a path. Call it when its content is accepted. */
  forget(path: string): void
}

/** Editors leave a file half-saved, or deleted, for up to 500 ms, or longer on a busy machine. */
const HALF_SAVED_MS = 1000
/** A path that nothing accepts, for example as its case was deleted, is forgotten. */
const FORGET_MS = 10_000

export function createStabilityDetector(): StabilityDetector {
  /** Oldest first. */
  const halfSaved = new Map<string, { stamp: FileStamp | null; since: number }>()

  function forgetOld(now: number): void {
    for (const [path, { since }] of halfSaved) {
      if (now - since < FORGET_MS) return
      halfSaved.delete(path)
    }
  }

  return {
    remainingMs(path, stamp) {
      const now = performance.now()
      const known = halfSaved.get(path)
      const isSame = stamp && known?.stamp ? sameStamp(stamp, known.stamp) : stamp === known?.stamp
      if (!known || !isSame) {
        halfSaved.delete(path)
        halfSaved.set(path, { stamp, since: now })
        forgetOld(now)
      }
      const quiet = known && isSame ? now - known.since : 0
      const age = stamp ? Date.now() - stamp.ctimeMs : 0 // less than 0 where a clock was set back
      return Math.max(0, HALF_SAVED_MS - Math.max(quiet, age))
    },
    forget: (path) => void halfSaved.delete(path),
  }
}

/** Which changed files a read pass accepts: those that look complete, or all when there is no more time to wait. */
export type AcceptPolicy = 'complete' | 'anything'

/** The half-saved files that a request waits for: memory files and records, only records, or none. */
export type WaitsFor = 'all' | 'records' | 'none'

/** One read of the files of a case. */
export interface ReadPass {
  /** Whether to accept a changed file now. `stamp` is called only if needed. */
  accept(
    path: string,
    stamp: () => FileStamp | null,
    isComplete: boolean,
    isNote?: boolean,
  ): boolean
  /** Call if the content at this path is known. */
  markUnchanged(path: string): void
  /** Set if so many files are new that some are left for the next pass. */
  isPartial: boolean
  /** In how many ms to read again what looks half-saved; 0 if everything was accepted. */
  readonly retryInMs: number
  /** The same for the files that a request waits for. */
  waitMs(waitsFor: WaitsFor): number
}

/** `written`: files that the service has just written. */
export function createReadPass(
  stability: StabilityDetector,
  policy: AcceptPolicy,
  written: readonly string[] = [],
): ReadPass {
  let retryInMs = 0
  let recordInMs = 0
  const earlier = (known: number, ms: number) => (known === 0 ? ms : Math.min(known, ms))
  return {
    isPartial: false,
    accept(path, stamp, isComplete, isNote = false) {
      const isAccepted = isComplete || policy === 'anything' || written.includes(path)
      const ms = isAccepted ? 0 : stability.remainingMs(path, stamp())
      if (ms === 0) {
        stability.forget(path)
        return true
      }
      retryInMs = earlier(retryInMs, ms)
      if (!isNote) recordInMs = earlier(recordInMs, ms)
      return false
    },
    markUnchanged: stability.forget,
    get retryInMs() {
      return retryInMs
    },
    waitMs: (waitsFor) => ({ all: retryInMs, records: recordInMs, none: 0 })[waitsFor],
  }
}

const ENDING = 40

/** Returns a copy of the last characters of a text, as a slice would keep the whole text in memory. */
export function endingOf(text: string): string {
  return Buffer.from(text.slice(-ENDING)).toString()
}

/** Whether a readable text ends as before, or with a line end, unless it had none before. A new file has no known ending. */
export function isComplete(ending: string, known: string | undefined): boolean {
  return ending === known || isClosed(ending) || (known !== undefined && !isClosed(known))
}

function isClosed(ending: string): boolean {
  return /[\r\n]$/.test(ending)
}
