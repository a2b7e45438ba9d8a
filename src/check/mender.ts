import { Refusal } from '../model/refusal.ts'
import { shownPath } from './finding.ts'
import type { View } from './view.ts'

/** What `--fix` did and what it could not do, a sentence each. */
export interface Mending {
  fixed: string[]
  left: string[]
}

/** One kind of mend at one file: gives what it did, null where there was nothing to do. */
export type Mend = () => Promise<string | null>

export interface Mender {
  view: View
  now(): string
  /** Makes one mend of the file at `path`, and notes what came of it. */
  mend(path: string, work: Mend): Promise<void>
}

/** A file that somebody saves meanwhile, or that cannot be written, is left and keeps no other from its mend. */
export function createMender(view: View, now: () => string): Mender & { done: Mending } {
  const done: Mending = { fixed: [], left: [] }
  return {
    ...{ view, now, done },
    async mend(path, work) {
      const file = shownPath(view.layout, path)
      try {
        const what = await work()
        if (what !== null) done.fixed.push(`${file}: ${what}`)
      } catch (error) {
        if (!(error instanceof Refusal)) throw error
        done.left.push(`${file}: ${error.message}`)
      }
    },
  }
}
