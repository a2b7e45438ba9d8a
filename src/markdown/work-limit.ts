/** What the ticks of the clock may hide of a thread that works without a pause. */
const HIDDEN = 0.2
/** However little was worked. */
const MAX_WAIT = 10

/**
 * Calls `over` after so many milliseconds in which this process worked; gives what cancels it. Where the
 * machine is busy with much else that is later than by the clock on the wall: to wait for a processor is
 * nobody's fault. After ten times as long it is called all the same, with false.
 */
export function limitWork(ms: number, over: (isUsedUp: boolean) => void): () => void {
  const [before, began] = [process.cpuUsage(), performance.now()]
  let timer = setTimeout(look, ms)
  function look(): void {
    const { user, system } = process.cpuUsage(before)
    const left = ms - (user + system) / 1000
    const isUsedUp = left <= ms * HIDDEN
    if (isUsedUp || performance.now() - began >= ms * MAX_WAIT) over(isUsedUp)
    else timer = setTimeout(look, left)
  }
  return () => clearTimeout(timer)
}
