import { setImmediate } from 'node:timers/promises'

/** Few enough to leave threads for requests; work that goes through none of them yields after a slice. */
const AT_ONCE = 16
const SLICE_MS = 8
/** One for all: many short rounds in a row keep nobody waiting either. */
let sliceBegan = 0

/** Does the work of all, a few at a time, in their order; rejects with the first that rejects. */
export async function inTurns<T>(
  items: readonly T[],
  work: (item: T) => Promise<unknown>,
): Promise<void> {
  let next = 0
  const worker = async () => {
    while (next < items.length) {
      await work(items[next++]!)
      await breath()
    }
  }
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, items.length) }, worker))
}

/** Lets others go first, where work has taken its slice. */
export async function breath(): Promise<void> {
  if (performance.now() - sliceBegan < SLICE_MS) return
  await setImmediate()
  sliceBegan = performance.now()
}
