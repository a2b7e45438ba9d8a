/**
 * Collects what comes in one turn of the event loop, and hands it on together at the end of the next: by
 * then, all that the kernel had to tell before the last of it came has been read.
 */
export function inBatches<T>(work: (batch: T[]) => void | Promise<void>): (item: T) => void {
  let batch: T[] = []

  function endOfTurn(): void {
    const full = batch
    batch = []
    setImmediate(() => void work(full))
  }

  return (item) => {
    if (batch.push(item) === 1) setImmediate(endOfTurn)
  }
}
