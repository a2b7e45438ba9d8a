import { stampNow } from '../files/read-now.ts'
import { type CaseStamps, folderNames, isUnchanged } from './case-stamps.ts'
import type { Catalog } from './catalog.ts'

/** Says at once, or not at all, that a case is as it was read. */
export interface StillCases {
  /** By the stamps of its files, taken now. */
  isStill(id: string): boolean
  /**
   * By what was heard: its stamps were taken a moment ago, and the watcher has told nothing of it since.
   * What the kernel has to tell must have been read before this is asked.
   */
  isUntouched(id: string): boolean
}

export interface StillNeeds {
  catalog: Catalog
  pathOf(id: string): string
  /** Whether every change is heard of, and none waits to be looked at but those of single cases. */
  isListening(): boolean
  /** Whether a look at a case waits. */
  isDue(id: string): boolean
  /** For tests; see below. */
  surelyWatchedMs?: number
}

/** What no watcher tells, as of a file system that others write to as well, is overlooked for so long. */
const GOOD_FOR_MS = 1000
/** A folder that came or changed since may not be watched yet. */
const SURELY_WATCHED_MS = 5000

export function createStillCases(needs: StillNeeds): StillCases {
  const { catalog, pathOf, isListening, isDue, surelyWatchedMs = SURELY_WATCHED_MS } = needs
  const goodUntil = new WeakMap<CaseStamps, number>()

  return {
    isStill(id) {
      const known = catalog.known(id)
      if (!known || !isUnchanged(known, pathOf(id))) return false
      if (isListening() && isOlder(known, pathOf(id), surelyWatchedMs)) {
        goodUntil.set(known, performance.now() + GOOD_FOR_MS)
      }
      return true
    },
    isUntouched(id) {
      const known = catalog.known(id)
      const until = known && goodUntil.get(known)
      return until !== undefined && performance.now() < until && isListening() && !isDue(id)
    },
  }
}

function isOlder(known: CaseStamps, folder: string, ms: number): boolean {
  const since = Date.now() - ms
  const stamps = folderNames(known).map((name) => stampNow(`${folder}/${name}`))
  return stamps.every((stamp) => stamp !== null && stamp.ctimeMs <= since)
}
