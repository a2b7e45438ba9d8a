import { AppError } from '../model/app-error.ts'
import { shownPath } from './finding.ts'
import type { Snapshot } from './snapshot.ts'

/** What `--fix` did and what it could not do, one sentence each. */
export interface FixReport {
  fixed: string[]
  left: string[]
}

/** One fix of one file. Returns what it did, or null if there was nothing to do. */
export type Fix = () => Promise<string | null>

export interface Fixer {
  snapshot: Snapshot
  now(): string
  /** Runs one fix of the file at `path` and records its result. */
  fix(path: string, work: Fix): Promise<void>
}

/** A file that is just being saved, or cannot be written, is skipped and reported; other fixes go on. */
export function createFixer(snapshot: Snapshot, now: () => string): Fixer & { done: FixReport } {
  const done: FixReport = { fixed: [], left: [] }
  return {
    snapshot,
    now,
    done,
    async fix(path, work) {
      const file = shownPath(snapshot.layout, path)
      try {
        const what = await work()
        if (what !== null) done.fixed.push(`${file}: ${what}`)
      } catch (error) {
        if (!(error instanceof AppError)) throw error
        done.left.push(`${file}: ${error.message}`)
      }
    },
  }
}
