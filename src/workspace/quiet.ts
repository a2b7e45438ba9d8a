import { performance } from 'node:perf_hooks'

const LOOK_MS = 200
/** In a row, so that a pause between two pieces of work is none. */
const QUIET_LOOKS = 3
/** The part of a look's time in which something was done. */
const MOST = 0.1

/** Calls back once, when for a moment little was done; gives the undo. */
export function whenQuiet(then: () => void): () => void {
  let before = performance.eventLoopUtilization()
  let quiet = 0
  const timer = setInterval(() => {
    const now = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(now, before)
    before = now
    quiet = utilization <= MOST ? quiet + 1 : 0
    if (quiet < QUIET_LOOKS) return
    clearInterval(timer)
    then()
  }, LOOK_MS).unref()
  return () => clearInterval(timer)
}
