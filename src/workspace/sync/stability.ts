/**
 * Detects whether a save is complete or an editor is still writing, and how long to wait before a changed file is
 * accepted.
 */

import { LRUCache } from 'lru-cache'
import { type FileStamp, sameStamp } from '../../files/safe-read.ts'

/**
 * How complete a changed file looks. `sameEnding`: it ends as before the change, so it is complete. `complete`: it
 * ends with a line end. `truncated`: its final line end is missing. `unreadable`: it is empty or cannot be parsed.
 */
export type Completeness = 'sameEnding' | 'complete' | 'truncated' | 'unreadable'

/** How a change was made, as far as the watcher can tell. */
export type EventKind = 'rename' | 'change'

/** Decides whether a changed file is stable or still being written. */
export interface StabilityDetector {
  /** Call when the watcher reports a path. */
  noteEvent(path: string, kind: EventKind): void
  /** Call when the service itself has written this file or created this folder. */
  noteOwnWrite(path: string): void
  /** Returns in how many ms to read a path that was just reported. */
  gatherMs(path: string): number
  /** Returns in how many ms a file with this stamp is stable; 0 if it is. */
  remainingMs(path: string, stamp: FileStamp | null, completeness: Completeness): number
  /** Forgets a path. Call it when its content is accepted. */
  forget(path: string): void
}

/** Events within this time cause one read. */
const GATHER_MS = 25
/** An event this soon after the service's own write is probably its echo. */
const ECHO_MS = 100
/** An echo is read once its stamp is reliable, so that one read is enough. */
const ECHO_GATHER_MS = 75

/** An editor that saves in place writes in several steps. A file that is renamed into place is already complete. */
const QUIET_MS = { rename: 25, change: 100 }
/** Editors leave a file half-saved for up to 500 ms, or longer on a busy machine. */
const HALF_SAVED_MS: Partial<Record<Completeness, number>> = { truncated: 800, unreadable: 1000 }
/** A file that is written continuously is accepted this often. */
const MAX_MS = 2000

interface Seen {
  stamp: FileStamp | null
  /** Time of the last change, and of the first that is not accepted yet. */
  since: number
  first: number
  kind: EventKind | null
}

export function createStabilityDetector(): StabilityDetector {
  const seen = new LRUCache<string, Seen>({ max: 10_000 })
  const own = new LRUCache<string, number>({ max: 1000 })

  /** Paths that are never accepted, for example deleted ones, are removed. */
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
        // a change event within a burst means that the file is written in place
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

/** A path that is not read keeps its last stamps; its next change counts as a new one. */
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

/** A write sets mtime and ctime; a rename of a finished file sets only ctime. */
function wasRenamed(stamp: FileStamp | null): boolean {
  return stamp !== null && stamp.ctimeMs > stamp.mtimeMs
}

/**
 * Which changed files a read pass accepts. `stable`: only stable files. `complete`: all that look complete, for a
 * write, which needs the current content. `anything`: all files, when there is no more time to wait.
 */
export type AcceptPolicy = 'stable' | 'complete' | 'anything'

/** One read of the files of a case. */
export interface ReadPass {
  /** Whether to accept a changed file now. `stamp` is called only if needed. */
  accept(path: string, stamp: () => FileStamp | null, completeness: Completeness): boolean
  /** Call if the content at this path is known. */
  markUnchanged(path: string): void
  /** In how many ms to read again what was not accepted; 0 if everything was. */
  readonly retryInMs: number
  /** Whether a file was not accepted because it looks half-saved. */
  readonly isHalfSaved: boolean
}

/** `written`: files that the service has just written. */
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

/** Returns a copy of the last characters of a text, as a slice would keep the whole text in memory. */
export function endingOf(text: string): string {
  return Buffer.from(text.slice(-ENDING)).toString()
}

/** Compares the ending of a readable text with the known ending; a new file has none. */
export function completenessOf(ending: string, known: string | undefined): Completeness {
  if (ending === known) return 'sameEnding'
  return isClosed(ending) || (known !== undefined && !isClosed(known)) ? 'complete' : 'truncated'
}

function isClosed(ending: string): boolean {
  return /[\r\n]$/.test(ending)
}
