/** Gathers the writes of one turn of the event loop into one transaction, and tries again while the disk fails. */

import { setImmediate } from 'node:timers/promises'

export interface GroupCommit<T> {
  /** The item is written soon, with those that are added meanwhile, after those that were added before. */
  add(item: T): void
  /** Resolves when all that was added before is written; rejects with the error when it could not be. */
  flushed(): Promise<void>
  /** Why the last try failed; null while all is well. */
  readonly failure: { error: unknown } | null
  /** How many items wait or are being written. */
  readonly waiting: number
  /** Ends the retries. */
  stop(): void
}

interface GroupCommitDeps<T> {
  /** Writes the first of these items, or more, in one piece; says how many. When it rejects, none is written. */
  write(items: readonly T[]): Promise<number>
  /** Told in order, before `flushed` resolves; must not throw. */
  onWritten(items: T[]): void
  /** The first failure, and again null with the first success after it. */
  onFailure(failure: { error: unknown } | null): void
  retryMs?: number
}

/**
 * One write at a time: what comes meanwhile is the next one. After a failure the items stay, in
 * order, and are tried again with the next `add` or `flushed`, and every second besides.
 */
export function createGroupCommit<T>(deps: GroupCommitDeps<T>): GroupCommit<T> {
  const { write, onWritten, onFailure, retryMs = 1000 } = deps
  let items: T[] = []
  let added = 0
  let written = 0
  let waiters: { upTo: number; resolve: () => void; reject: (error: unknown) => void }[] = []
  let failure: { error: unknown } | null = null
  let isWriting = false
  let retry: NodeJS.Timeout | undefined

  async function run(): Promise<void> {
    if (isWriting) return
    isWriting = true
    clearTimeout(retry)
    try {
      await setImmediate() // so that all that one turn adds is one write
      while (items.length) await step()
    } catch (error) {
      fail(error)
    } finally {
      isWriting = false
    }
  }

  async function step(): Promise<void> {
    const count = await write(items)
    const done = items.slice(0, count)
    items = items.slice(count)
    written += count
    if (failure) onFailure(null)
    failure = null
    onWritten(done)
    for (const waiter of waiters) if (waiter.upTo <= written) waiter.resolve()
    waiters = waiters.filter(({ upTo }) => upTo > written)
  }

  function fail(error: unknown): void {
    if (!failure) onFailure({ error })
    failure = { error }
    for (const waiter of waiters) waiter.reject(error)
    waiters = []
    retry = setTimeout(run, retryMs).unref()
  }

  return {
    add(item) {
      items.push(item)
      added++
      run()
    },
    flushed() {
      if (written === added) return Promise.resolve()
      return new Promise((resolve, reject) => {
        waiters.push({ upTo: added, resolve, reject })
        run()
      })
    },
    get failure() {
      return failure
    },
    get waiting() {
      return items.length
    },
    stop: () => clearTimeout(retry),
  }
}
