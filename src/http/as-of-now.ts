import { readAgainIfDamaged } from '../workspace/kept/kept-damage.ts'
import type { Synchronizer } from '../workspace/sync/synchronizer.ts'

/** Makes a list of what stands in the files now; once more where what was kept of cases is found damaged, and so is read anew. */
export function asOfNow<T>(
  { synchronizer }: { synchronizer: Pick<Synchronizer, 'freshenAll'> },
  make: () => T | Promise<T>,
): Promise<T> {
  return readAgainIfDamaged(async () => {
    await synchronizer.freshenAll()
    return make()
  })
}
