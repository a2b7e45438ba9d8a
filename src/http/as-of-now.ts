import { readAgainIfDamaged } from '../workspace/kept/kept-damage.ts'
import type { Upkeep } from '../workspace/upkeep.ts'

/** Makes a list of what stands in the files now; once more where what was kept of cases is found damaged, and so is read anew. */
export function asOfNow<T>(
  { upkeep }: { upkeep: Pick<Upkeep, 'current'> },
  make: () => T | Promise<T>,
): Promise<T> {
  return readAgainIfDamaged(async () => {
    await upkeep.current()
    return make()
  })
}
