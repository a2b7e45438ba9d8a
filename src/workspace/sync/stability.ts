/** Whether a save is complete, or an editor is still writing: how long to wait before a changed file counts. */

import { LRUCache } from 'lru-cache'
import { type FileStamp, sameStamp } from '../../files/safe-read.ts'

/**
 * What the content of a changed file looks like: `sameEnding` where it ends as it did before the change, so that
 * all of it is there; `complete`; `truncated` where it has lost the line end that closed it; `unreadable` where it
 * is empty or cannot be parsed.
 */
export type Completeness = 'sameEnding' | 'complete' | 'truncated' | 'unreadable'

/** How a change was made, as far as the watcher can tell. */
export type EventKind = 'rename' | 'change'

/** Tells a file that somebody is still writing from one that is stable. */
export interface StabilityDetector {
  /** The watcher heard of this path just now. */
  noteEvent(path: string, kind: EventKind): void
  /** The service itself has just written the file, or made the folder, at this path. */
  noteOwnWrite(path: string): void
  /** In how many ms to read a path that was just heard of. */
  gatherMs(path: string): number
  /** In how many ms a file that has changed to this stamp is stable; 0 when it is. */
  remainingMs(path: string, stamp: FileStamp | null, completeness: Completeness): number
  /** Forgets a path, once its content is accepted. */
  forget(path: string): void
}

/** The time in which a burst of events becomes one read. */
const GATHER_MS = 25
/** What is heard of a path so soon after our own write is most likely its echo. */
const ECHO_MS = 100
/** That is read when its stamp shows every later change, so that one read is enough. */
const ECHO_GATHER_MS = 75

/** An editor that saves in place writes in several steps; a rename brings a file that is written already. */
const QUIET_MS = { rename: 25, change: 100 }
/** Longer than an editor leaves a file half-saved, which is up to 500 ms, and more where the machine is busy. */
const HALF_SAVED_MS: Partial<Record<Completeness, number>> = { truncated: 800, unreadable: 1000 }
/** A file that somebody writes to all the time is accepted as often as this. */
const MAX_MS = 2000

interface Seen {
  stamp: FileStamp | null
  /** Of the last change, and of the first that is not accepted yet. */
  since: number
  first: number
  kind: EventKind | null
}

export function createStabilityDetector(): StabilityDetector {
  const seen = new LRUCache<string, Seen>({ max: 10_000 })
  const own = new LRUCache<string, number>({ max: 1000 })

  /** A path that nothing reads, one that was deleted say, is never accepted. */
  function dropOver(now: number): void {
    for (const path of seen.rkeys()) {
      if (!isOver(seen.peek(path), now)) return
      seen.delete(path)
    }
  }

  return {
    noteEvent(path, kind) {
      const now = performance.now()
      dropOver(now)
      const known = seen.get(path)
      const burst = isOver(known, now) ? undefined : known
      seen.set(path, {
        stamp: known?.stamp ?? null,
        // in a row of events a change says that the file is written in place
        kind: burst?.kind === 'change' ? 'change' : kind,
        since: now,
        first: burst?.first ?? now,
      })
    },
    noteOwnWrite: (path) => void own.set(path, performance.now()),
    gatherMs(path) {
      const wroteAt = own.get(path)
      return wroteAt !== undefined && performance.now() - wroteAt < ECHO_MS
        ? ECHO_GATHER_MS
        : GATHER_MS
    },
    remainingMs(path, stamp, completeness) {
      const now = performance.now()
      let known = seen.get(path)
      if (!known || (known.stamp && stamp && !sameStamp(known.stamp, stamp))) {
        const first = known && !isOver(known, now) ? known.first : now
        known = { stamp, since: now, first, kind: known?.kind ?? null }
      }
      known.stamp = stamp
      seen.set(path, known)
      const needed = neededQuiet(known.kind, stamp, completeness)
      if (HALF_SAVED_MS[completeness] === undefined && now - known.first > MAX_MS) return 0
      const quiet = now - known.since
      const age = stamp ? Date.now() - stamp.ctimeMs : 0 // less than 0 where a clock was set back
      return Math.max(0, needed - Math.max(quiet, age))
    },
    forget: (path) => void seen.delete(path),
  }
}

/** A path that is not read keeps its last stamps; the next change counts as a new one. */
function isOver(seen: Seen | undefined, now: number): boolean {
  return seen === undefined || now - seen.since > MAX_MS
}

function neededQuiet(
  kind: EventKind | null,
  stamp: FileStamp | null,
  completeness: Completeness,
): number {
  const isDone = completeness === 'sameEnding' || kind === 'rename' || wasRenamed(stamp)
  return HALF_SAVED_MS[completeness] ?? QUIET_MS[isDone ? 'rename' : 'change']
}

/** A write sets both times; a rename, made when all was written, the time of change alone. */
function wasRenamed(stamp: FileStamp | null): boolean {
  return stamp !== null && stamp.ctimeMs > stamp.mtimeMs
}

/**
 * Which changed files a read pass accepts: only those that are `stable`; for a write, which is made on what is
 * there, all that are `complete`; or `anything`, when there is no more time to wait.
 */
export type AcceptPolicy = 'stable' | 'complete' | 'anything'

/** One read of the files of a case. */
export interface ReadPass {
  /** Whether a file that has changed to this stamp, which is asked for only where it matters, is accepted as it is now. */
  accept(path: string, stamp: () => FileStamp | null, completeness: Completeness): boolean
  /** Says that the content at this path is known. */
  markUnchanged(path: string): void
  /** In how many ms to read again, for what was not accepted; 0 where all was. */
  readonly retryInMs: number
  /** Whether something was left since it looks half-saved. */
  readonly isHalfSaved: boolean
}

/** `written`: the paths of files that this service wrote just now. */
export function createReadPass(
  stability: StabilityDetector,
  policy: AcceptPolicy,
  written: readonly string[] = [],
): ReadPass {
  let retryInMs = 0
  let isHalfSaved = false
  return {
    accept(path, stamp, completeness) {
      const looksHalfSaved = completeness === 'truncated' || completeness === 'unreadable'
      const isComplete = policy === 'complete' && !looksHalfSaved
      const isAccepted = policy === 'anything' || isComplete || written.includes(path)
      const ms = isAccepted ? 0 : stability.remainingMs(path, stamp(), completeness)
      if (ms === 0) {
        stability.forget(path)
        return true
      }
      retryInMs = retryInMs === 0 ? ms : Math.min(retryInMs, ms)
      if (looksHalfSaved) isHalfSaved = true
      return false
    },
    markUnchanged: (path) => stability.forget(path),
    get retryInMs() {
      return retryInMs
    },
    get isHalfSaved() {
      return isHalfSaved
    },
  }
}

const ENDING = 40

/** The last characters of a text: a copy, as a slice would keep the whole text in memory. */
export function endingOf(text: string): string {
  return Buffer.from(text.slice(-ENDING)).toString()
}

/** Of a text that can be read, by its ending and by the ending that was known; a new file has none. */
export function completenessOf(ending: string, known: string | undefined): Completeness {
  if (ending === known) return 'sameEnding'
  return isClosed(ending) || (known !== undefined && !isClosed(known)) ? 'complete' : 'truncated'
}

function isClosed(ending: string): boolean {
  return /[\r\n]$/.test(ending)
}
