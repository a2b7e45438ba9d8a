import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises'

/** Lets work in the background go slowly: it takes a small part of the time, in slices, as long as there is time. */
export interface Rests {
  isDue(): boolean
  take(): Promise<void>
}

const SLICE_MS = 4
const REST_MS = 16

/** `isSlow`: whether there is time; else a rest is only as long as what waits for its turn. */
export function createRests(isSlow: () => boolean): Rests {
  let since = performance.now()
  return {
    isDue: () => performance.now() - since > SLICE_MS,
    async take() {
      await (isSlow() ? delay(REST_MS) : nextTurn())
      since = performance.now()
    },
  }
}
