import { KeptDamage } from '../workspace/kept/kept-reader.ts'
import type { Upkeep } from '../workspace/upkeep.ts'

/** Makes a list of what stands in the files now; once more where what was kept of cases is found damaged, and so is read anew. */
export async function asOfNow<T>(
  { upkeep }: { upkeep: Pick<Upkeep, 'current'> },
  make: () => T | Promise<T>,
): Promise<T> {
  await upkeep.current()
  try {
    return await make()
  } catch (error) {
    if (!(error instanceof KeptDamage)) throw error
    await upkeep.current()
    return make()
  }
}
