import { createKeyedMutex } from '../files/keyed-mutex.ts'
import type { Pins } from '../model/held.ts'
import { isEmpty } from '../model/pin-changes.ts'
import type { BaselineStore, Watch } from '../state/baselines.ts'

/** What counts of each case whatever its files say, in memory and on disk. */
export interface PinBook {
  get(caseId: string): Pins | undefined
  ids(): string[]
  all(): Record<string, Pins>
  /** Counts at once; resolves when it is on disk. */
  put(caseId: string, pins: Pins | null): Promise<void>
  /** For all cases at once, in a file that is about to be written. */
  keep(caseId: string, pins: Pins): void
  drop(caseId: string): void
  load(): Promise<Watch | null>
  idle(): Promise<void>
}

export function createPinBook(files: BaselineStore): PinBook {
  const known = new Map<string, Pins>()
  /** The cases that have a file of their own, which goes before that of all. */
  const filed = new Set<string>()
  const order = createKeyedMutex()

  function put(caseId: string, pins: Pins | null): Promise<void> {
    if (pins && !isEmpty(pins)) {
      known.set(caseId, pins)
      filed.add(caseId)
      return order.run(caseId, () => files.write(caseId, pins))
    }
    known.delete(caseId)
    if (!filed.delete(caseId)) return Promise.resolve()
    return order.run(caseId, () => files.remove(caseId))
  }

  return {
    get: (caseId) => known.get(caseId),
    ids: () => [...known.keys()],
    all: () => Object.fromEntries(known),
    put,
    keep: (caseId, pins) => void known.set(caseId, pins),
    drop: (caseId) => void known.delete(caseId),
    async load() {
      const { watch, own } = await files.read()
      const all = [...Object.entries(watch?.cases ?? {}), ...own]
      for (const [id, pins] of all) known.set(id, pins)
      for (const id of own.keys()) filed.add(id)
      return watch
    },
    idle: order.idle,
  }
}
