/** One task at a time for each key. All reads and writes of a case's files use the case id as key. */

export interface KeyedMutex {
  /**
   * Runs `work` when all earlier work of the same key has ended, and returns its result. Trap: work that calls `run`
   * with its own key waits forever.
   */
  run<T>(key: string, work: () => T | Promise<T>): Promise<T>
  /** Resolves when no work runs or waits. */
  idle(): Promise<void>
}

/** In order of arrival for each key; different keys do not wait for each other. */
export function createKeyedMutex(): KeyedMutex {
  const tails = new Map<string, Promise<void>>()

  function run<T>(key: string, work: () => T | Promise<T>): Promise<T> {
    const result = (tails.get(key) ?? Promise.resolve()).then(work)
    const leave = (): void => {
      if (tails.get(key) === tail) tails.delete(key)
    }
    // not swallowed: the caller gets a failure through `result`
    const tail = result.then(leave, leave)
    tails.set(key, tail)
    return result
  }

  async function idle(): Promise<void> {
    while (tails.size > 0) await Promise.all(tails.values())
  }

  return { run, idle }
}
