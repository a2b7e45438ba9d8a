import { LRUCache } from 'lru-cache'
import { type FileStamp, sameStamp } from '../files/safe-read.ts'
import type { Wholeness } from './wholeness.ts'

/** How a change was made, as far as the watcher can tell. */
export type HintKind = 'rename' | 'change'

/** Tells a file that somebody is still writing from one that stands still (reliability.md §4). */
export interface Settling {
  /** The watcher heard of this path just now. */
  hint(path: string, kind: HintKind): void
  /** The service itself has just written the file, or made the folder, at this path. */
  wrote(path: string): void
  /** In how many ms to look at a path that was just heard of. */
  gather(path: string): number
  /** In how many ms a file that has changed to this stamp stands still; 0 when it does. */
  wait(path: string, stamp: FileStamp | null, looks: Wholeness): number
  /** Forgets a path, once its content is taken. */
  forget(path: string): void
}

/** The time in which a burst of hints becomes one look. */
const GATHER_MS = 25
/** What is heard of a path so soon after our own write is most likely its echo. */
const ECHO_MS = 100
/** That is looked at when its stamp tells every later change, so that one look is enough. */
const ECHO_GATHER_MS = 75

/** An editor that saves in place writes in several steps; a rename brings a file that is written already. */
const QUIET_MS = { rename: 25, change: 100 }
/** Longer than an editor leaves a file half-saved, which is up to 500 ms, and more where the machine is busy. */
const PATIENCE_MS: Partial<Record<Wholeness, number>> = { cut: 800, broken: 1000 }
/** A file that somebody writes to all the time is taken as often as this. */
const MAX_MS = 2000

interface Seen {
  stamp: FileStamp | null
  /** Of the last change, and of the first that is not taken yet. */
  since: number
  first: number
  kind: HintKind | null
}

export function createSettling(): Settling {
  const seen = new LRUCache<string, Seen>({ max: 10_000 })
  const own = new LRUCache<string, number>({ max: 1000 })

  /** Of a path that nothing reads, one that was deleted say, nobody says that it is taken. */
  function dropOver(now: number): void {
    for (const path of seen.rkeys()) {
      if (!isOver(seen.peek(path), now)) return
      seen.delete(path)
    }
  }

  return {
    hint(path, kind) {
      const now = performance.now()
      dropOver(now)
      const known = seen.get(path)
      const burst = isOver(known, now) ? undefined : known
      // in a row of hints a change says that the file is written where it stands
      const rough = burst?.kind === 'change' ? 'change' : kind
      seen.set(path, {
        ...{ stamp: known?.stamp ?? null, kind: rough },
        ...{ since: now, first: burst?.first ?? now },
      })
    },
    wrote: (path) => void own.set(path, performance.now()),
    gather(path) {
      const wroteAt = own.get(path)
      return wroteAt !== undefined && performance.now() - wroteAt < ECHO_MS
        ? ECHO_GATHER_MS
        : GATHER_MS
    },
    wait(path, stamp, looks) {
      const now = performance.now()
      let known = seen.get(path)
      if (!known || (known.stamp && stamp && !sameStamp(known.stamp, stamp))) {
        const first = known && !isOver(known, now) ? known.first : now
        known = { stamp, since: now, first, kind: known?.kind ?? null }
      }
      known.stamp = stamp
      seen.set(path, known)
      const needed = neededQuiet(known.kind, stamp, looks)
      if (PATIENCE_MS[looks] === undefined && now - known.first > MAX_MS) return 0
      const quiet = now - known.since
      const age = stamp ? Date.now() - stamp.ctimeMs : 0 // less than 0 where a clock was set back
      return Math.max(0, needed - Math.max(quiet, age))
    },
    forget: (path) => void seen.delete(path),
  }
}

/** A path that nobody read keeps what was seen of it, and the next change is another. */
function isOver(seen: Seen | undefined, now: number): boolean {
  return seen === undefined || now - seen.since > MAX_MS
}

function neededQuiet(kind: HintKind | null, stamp: FileStamp | null, looks: Wholeness): number {
  const isDone = looks === 'ended' || kind === 'rename' || wasRenamed(stamp)
  return PATIENCE_MS[looks] ?? QUIET_MS[isDone ? 'rename' : 'change']
}

/** A write sets both times; a rename, made when all was written, the time of change alone. */
function wasRenamed(stamp: FileStamp | null): boolean {
  return stamp !== null && stamp.ctimeMs > stamp.mtimeMs
}
