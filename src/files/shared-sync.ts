/** One fsync of a folder for all writers that ask for it at the same time. */

import { syncFolder } from './durable-write.ts'

/**
 * Makes new names directly in a folder durable, as `syncFolder` does: but whoever asks while a sync of it is
 * under way, which may have come too early for him, gets the next one together with all others who do.
 */
export function createSharedSync(): (folder: string) => Promise<void> {
  const underWay = new Map<string, Promise<void>>()
  const next = new Map<string, Promise<void>>()

  function begin(folder: string): Promise<void> {
    next.delete(folder)
    const sync = syncFolder(folder).finally(() => {
      if (underWay.get(folder) === sync) underWay.delete(folder)
    })
    underWay.set(folder, sync)
    return sync
  }

  return (folder) => {
    const before = underWay.get(folder)
    if (!before) return begin(folder)
    let shared = next.get(folder)
    if (!shared) {
      const then = () => begin(folder)
      shared = before.then(then, then) // that one's error is told to those who asked for it
      next.set(folder, shared)
    }
    return shared
  }
}
