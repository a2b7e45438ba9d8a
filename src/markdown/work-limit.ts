/** The share of the limit that may be left, because the clocks are coarse. */
const TOLERANCE = 0.05
/** The wall-clock limit, as a multiple of the work limit. */
const MAX_WAIT = 10

/**
 * Calls `over(true)` once `workMs` has grown by `ms`; returns a function that cancels it. On a busy
 * machine that takes longer than `ms`, because waiting for a processor is not work. After ten times
 * `ms` it calls `over(false)`.
 */
export function limitWork(
  ms: number,
  workMs: () => number,
  over: (isUsedUp: boolean) => void,
): () => void {
  const [before, began] = [workMs(), performance.now()]
  let timer = setTimeout(look, ms)
  function look(): void {
    const left = ms - (workMs() - before)
    const isUsedUp = left <= ms * TOLERANCE
    if (isUsedUp || performance.now() - began >= ms * MAX_WAIT) over(isUsedUp)
    else timer = setTimeout(look, left)
  }
  return () => clearTimeout(timer)
}
