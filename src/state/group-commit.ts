/** Combines the writes of one event-loop turn into one transaction, and retries while the disk fails. */

import { setImmediate } from 'node:timers/promises'

export interface GroupCommit<T> {
  /**
   * Queues an item. It is written soon, after items added before, together with items added in the meantime; if it is
   * not urgent, with the next one, or at `flushed`.
   */
  add(item: T, isUrgent?: boolean): void
  /** Resolves when everything added before is written; rejects with the error if it could not be. */
  flushed(): Promise<void>
  /** The error of the last attempt; null if it succeeded. */
  readonly failure: { error: unknown } | null
  /** How many items wait or are being written. */
  readonly waiting: number
  /** Stops retrying. */
  stop(): void
}

interface GroupCommitDeps<T> {
  /** Writes one or more of the first items atomically and returns how many. If it rejects, none is written. */
  write(items: readonly T[]): Promise<number>
  /** Called in order, before `flushed` resolves; must not throw. */
  onWritten(items: T[]): void
  /** Called with the first failure, and with null at the first success after it. */
  onFailure(failure: { error: unknown } | null): void
  retryMs?: number
}

/**
 * One write at a time; items added during it form the next one. After a failure the items stay in order, and are
 * retried at the next `add` or `flushed` and every second.
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
      await setImmediate() // combines everything that one turn adds
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
    add(item, isUrgent = true) {
      items.push(item)
      added++
      if (isUrgent) run()
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
