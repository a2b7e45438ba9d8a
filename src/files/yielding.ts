/** Long loops that let requests go first. This is the program's only way to yield. */

import { setImmediate } from 'node:timers/promises'

/** A low limit, which leaves threads for requests. */
const AT_ONCE = 16
/** The maximum delay of requests in each turn of the event loop. */
const SLICE_MS = 2
/** All loops share it, so that many short ones in a row do not delay requests either. */
let sliceBegan = 0

/** Waits for the next turn of the event loop once this one has taken longer than `SLICE_MS`. */
export async function yieldIfBusy(): Promise<void> {
  if (performance.now() - sliceBegan < SLICE_MS) return
  await setImmediate()
  sliceBegan = performance.now()
}

/**
 * Runs the work for one item after the other, including items added meanwhile, and yields now and
 * then. Rejects with the signal's reason once that is aborted.
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

/** Runs the work for all items in order, a few at a time. Rejects with the first error. */
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
