/** The clocks are coarse: so little of the limit may be left. */
const TOLERANCE = 0.05
/** However little was worked. */
const MAX_WAIT = 10

/**
 * Calls `over` once `workMs` has grown by so many milliseconds; returns what cancels it. On a busy machine that
 * is later than by the clock on the wall, since waiting for a processor is not work. After ten times as long
 * it is called all the same, with false.
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
