/** Long loops that let requests go first. All yielding of the program goes through here. */

import { setImmediate } from 'node:timers/promises'

/** Low enough to leave threads for requests. */
const AT_ONCE = 16
/** Maximum time that a loop blocks the event loop. */
const SLICE_MS = 2
/** Shared by all loops, so that many short ones in a row do not delay requests. */
let sliceBegan = 0

/** Waits for the next turn of the event loop once this one has taken longer than `SLICE_MS`. */
export async function yieldIfBusy(): Promise<void> {
  if (performance.now() - sliceBegan < SLICE_MS) return
  await setImmediate()
  sliceBegan = performance.now()
}

/** Resolves when all events that the kernel has now are delivered. */
export async function pendingEvents(): Promise<void> {
  await setImmediate()
  await setImmediate()
}

/**
 * Runs `work` for one item after another, including items added meanwhile, and yields to requests. Rejects with the
 * signal's reason when aborted.
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

/** Runs `work` for all items, a few at a time, in order; rejects with the first error. */
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
