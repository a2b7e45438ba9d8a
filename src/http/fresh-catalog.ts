import type { Synchronizer } from '../workspace/sync/synchronizer.ts'

/** Makes a list of what stands in the files now. */
export async function withFreshCatalog<T>(
  { synchronizer }: { synchronizer: Pick<Synchronizer, 'freshenAll'> },
  make: () => T | Promise<T>,
): Promise<T> {
  await synchronizer.freshenAll()
  return make()
}
