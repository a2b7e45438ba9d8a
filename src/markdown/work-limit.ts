/** Tolerance for coarse clocks, as a part of the limit. */
const TOLERANCE = 0.05
/** After this multiple of the limit it ends even if little work was done. */
const MAX_WAIT = 10

/**
 * Calls `over` once `workMs` has grown by `ms`; returns a function that cancels it. On a busy machine that is
 * later than by wall-clock time, as waiting for a processor is not work. After ten times the limit it is called
 * anyway, with false.
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
