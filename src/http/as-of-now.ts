import type { Upkeep } from '../workspace/upkeep.ts'

/** Makes a list of what stands in the files now. */
export async function asOfNow<T>(
  { upkeep }: { upkeep: Pick<Upkeep, 'current'> },
  make: () => T | Promise<T>,
): Promise<T> {
  await upkeep.current()
  return make()
}
