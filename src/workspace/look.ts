import type { FileStamp } from '../files/safe-read.ts'
import type { Settling } from './settling.ts'
import type { Wholeness } from './wholeness.ts'

/**
 * Which changes a look takes: only files that stand `still`; for a write, which is made on what is
 * there, all that are `whole`; or `all`, when there is no more time to wait.
 */
export type Takes = 'still' | 'whole' | 'all'

/** One look at the files of a case. */
export interface Look {
  /** Whether a file that has changed to this stamp, which is asked for only where it matters, is taken as it is now. */
  take(path: string, stamp: () => FileStamp | null, looks: Wholeness): boolean
  /** Says that what stands there is known. */
  taken(path: string): void
  /** In how many ms to look again, for what was not taken; 0 where all was. */
  readonly wait: number
  /** Whether something was left since it looks half-written. */
  readonly isHalf: boolean
}

/** `written`: the paths of files that this service wrote just now. */
export function createLook(
  settling: Settling,
  takes: Takes,
  written: readonly string[] = [],
): Look {
  let wait = 0
  let isHalf = false
  return {
    take(path, stamp, looks) {
      const ms = takes === 'all' || written.includes(path) ? 0 : settling.wait(path, stamp(), looks)
      const isHalfSaved = looks === 'cut' || looks === 'broken'
      if (ms === 0 || (takes === 'whole' && !isHalfSaved)) {
        settling.forget(path)
        return true
      }
      wait = wait === 0 ? ms : Math.min(wait, ms)
      if (isHalfSaved) isHalf = true
      return false
    },
    taken: (path) => settling.forget(path),
    get wait() {
      return wait
    },
    get isHalf() {
      return isHalf
    },
  }
}
