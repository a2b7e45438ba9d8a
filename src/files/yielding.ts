/** Long loops that let requests go first. The only way to yield in the program. */

import { setImmediate } from 'node:timers/promises'

/** Few enough to leave threads for requests. */
const AT_ONCE = 16
/** A request waits at most so long in each turn of the event loop. */
const SLICE_MS = 2
/** Shared by all loops, so that many short ones in a row do not delay requests either. */
let sliceBegan = 0

/** Waits for the next turn of the event loop once this one has taken longer than `SLICE_MS`. */
export async function yieldIfBusy(): Promise<void> {
  if (performance.now() - sliceBegan < SLICE_MS) return
  await setImmediate()
  sliceBegan = performance.now()
}

/**
 * Does the work for one item after the other, also for those that are added meanwhile, and lets others go first now
 * and then. Rejects with the signal's reason once that is aborted.
 */
export async function forEachInTurn<T>(
  items: Iterable<T>,
  signal: AbortSignal,
  work: (item: T) => Promise<unknown> | unknown,
): Promise<void> {
  for (const item of items) {
    signal.throwIfAborted()
    await work(item)
    await yieldIfBusy()
  }
}

/** Does the work for all items, a few at a time, in their order; rejects with the first that rejects. */
export async function forEachLimited<T>(
  items: readonly T[],
  work: (item: T) => Promise<unknown>,
): Promise<void> {
  let next = 0
  const worker = async () => {
    while (next < items.length) {
      await work(items[next++]!)
      await yieldIfBusy()
    }
  }
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, items.length) }, worker))
}
