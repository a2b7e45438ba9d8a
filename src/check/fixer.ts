import { AppError } from '../model/app-error.ts'
import { shownPath } from './finding.ts'
import type { Snapshot } from './snapshot.ts'

/** What `--fix` did and what it could not do, a sentence each. */
export interface FixReport {
  fixed: string[]
  left: string[]
}

/** One kind of fix at one file: gives what it did, null where there was nothing to do. */
export type Fix = () => Promise<string | null>

export interface Fixer {
  snapshot: Snapshot
  now(): string
  /** Makes one fix of the file at `path`, and notes what came of it. */
  fix(path: string, work: Fix): Promise<void>
}

/** A file that somebody saves meanwhile, or that cannot be written, is left and keeps no other from its fix. */
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
