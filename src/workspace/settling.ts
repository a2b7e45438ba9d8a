import { LRUCache } from 'lru-cache'
import { type FileStamp, sameStamp } from './safe-read.ts'

/** How a change was made, as far as the watcher can tell. */
export type HintKind = 'rename' | 'change'

/** Tells a file that somebody is still writing from one that stands still (reliability.md §4). */
export interface Settling {
  /** The watcher heard of this path just now. */
  hint(path: string, kind: HintKind): void
  /** In how many ms a file that has changed to this stamp stands still; 0 when it does. */
  wait(path: string, stamp: FileStamp | null, looks: Wholeness): number
  /** Forgets a path, once its content is taken. */
  forget(path: string): void
}

/**
 * What the content looks like: `whole`; `cut` where it has lost the line end that closed it; `broken`
 * where it is empty or cannot be read.
 */
export type Wholeness = 'whole' | 'cut' | 'broken'

/** An editor that saves in place writes in several steps; a rename brings a file that is written already. */
const QUIET_MS = { rename: 25, change: 100 }
/** Longer than an editor leaves a file half-saved, which is up to 500 ms. */
const PATIENCE_MS: Record<Wholeness, number> = { whole: 0, cut: 600, broken: 1000 }

interface Seen {
  stamp: FileStamp | null
  since: number
  kind: HintKind | null
}

export function createSettling(): Settling {
  // of a path that nothing reads, nobody says that it is taken
  const seen = new LRUCache<string, Seen>({ max: 10_000 })

  return {
    hint(path, kind) {
      const known = seen.get(path)
      // in a row of hints a change says that the file is written where it stands
      const rough = known?.kind === 'change' ? 'change' : kind
      seen.set(path, { stamp: known?.stamp ?? null, since: performance.now(), kind: rough })
    },
    wait(path, stamp, looks) {
      const now = performance.now()
      let known = seen.get(path)
      if (!known || (known.stamp && stamp && !sameStamp(known.stamp, stamp))) {
        known = { stamp, since: now, kind: known?.kind ?? null }
      }
      known.stamp = stamp
      seen.set(path, known)
      const quiet = now - known.since
      const age = stamp ? Date.now() - stamp.ctimeMs : 0 // less than 0 where a clock was set back
      return Math.max(0, neededQuiet(known.kind, stamp, looks) - Math.max(quiet, age))
    },
    forget: (path) => void seen.delete(path),
  }
}

function neededQuiet(kind: HintKind | null, stamp: FileStamp | null, looks: Wholeness): number {
  if (PATIENCE_MS[looks] > 0) return PATIENCE_MS[looks]
  return QUIET_MS[kind === 'rename' || wasRenamed(stamp) ? 'rename' : 'change']
}

/** A write sets both times; a rename, made when all was written, the time of change alone. */
function wasRenamed(stamp: FileStamp | null): boolean {
  return stamp !== null && stamp.ctimeMs > stamp.mtimeMs
}
