/** What was kept of a case is no longer there: something else wrote to the file, or cut it short. */
export class KeptDamage extends Error {
  constructor() {
    super('what was kept of a case was changed by something else: the case is read anew')
  }
}

/** Reads again where that is found: from then on it does not count, and the files are read. */
export async function readAgainIfDamaged<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (error) {
    if (!(error instanceof KeptDamage)) throw error
    return read()
  }
}
