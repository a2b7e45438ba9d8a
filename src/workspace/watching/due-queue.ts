/** A queue of items to read again: each item once, at the earliest requested time. */
export interface DueQueue {
  /** In `ms` from now. */
  add(item: string, ms: number): void
  delete(item: string): void
  items(): string[]
  /**
   * Starts passing due items to `work`, one batch at a time. `work` must not reject; it adds unfinished items again.
   */
  start(work: (due: string[]) => Promise<void>): void
  close(): void
}

export function createDueQueue(): DueQueue {
  const due = new Map<string, number>()
  let work: ((due: string[]) => Promise<void>) | null = null
  let timer: NodeJS.Timeout | undefined
  let wakesAt = Number.POSITIVE_INFINITY

  function wakeAt(at: number): void {
    if (work === null || at >= wakesAt) return
    clearTimeout(timer)
    wakesAt = at
    timer = setTimeout(() => void run(), Math.max(0, at - performance.now()))
  }

  function earliest(): number {
    let next = Number.POSITIVE_INFINITY
    for (const at of due.values()) next = Math.min(next, at)
    return next
  }

  async function run(): Promise<void> {
    if (work === null) return
    wakesAt = Number.NEGATIVE_INFINITY // no other wake-up while it works
    const now = performance.now()
    const items = [...due].filter(([, at]) => at <= now).map(([item]) => item)
    for (const item of items) due.delete(item)
    try {
      await work(items)
    } finally {
      wakesAt = Number.POSITIVE_INFINITY
      wakeAt(earliest())
    }
  }

  return {
    add(item, ms) {
      const at = performance.now() + ms
      due.set(item, Math.min(due.get(item) ?? at, at))
      wakeAt(at)
    },
    delete: (item) => void due.delete(item),
    items: () => [...due.keys()],
    start(does) {
      work = does
      wakeAt(earliest())
    },
    close() {
      work = null
      clearTimeout(timer)
    },
  }
}
