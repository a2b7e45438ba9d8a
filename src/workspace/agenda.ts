/** What is to be looked at, and when: each item once, at the earliest of the times that were asked for. */
export interface Agenda {
  /** In `ms` from now. */
  add(item: string, ms: number): void
  delete(item: string): void
  items(): string[]
  has(item: string): boolean
  /** Stops the clock. */
  close(): void
}

/**
 * `work` is given all that is due, one batch at a time; what it leaves undone it adds again. It must
 * not reject.
 */
export function createAgenda(work: (due: string[]) => Promise<void>): Agenda {
  const due = new Map<string, number>()
  let timer: NodeJS.Timeout | null = null
  let wakesAt = Number.POSITIVE_INFINITY
  let isWorking = false
  let isClosed = false

  function wakeAt(at: number): void {
    if (isClosed || isWorking || at >= wakesAt) return
    if (timer) clearTimeout(timer)
    wakesAt = at
    timer = setTimeout(() => void begin(), Math.max(0, at - performance.now()))
  }

  async function begin(): Promise<void> {
    wakesAt = Number.POSITIVE_INFINITY
    isWorking = true
    const now = performance.now()
    const items = [...due].filter(([, at]) => at <= now).map(([item]) => item)
    for (const item of items) due.delete(item)
    await work(items)
    isWorking = false
    let next = Number.POSITIVE_INFINITY
    for (const at of due.values()) next = Math.min(next, at)
    wakeAt(next)
  }

  return {
    add(item, ms) {
      const at = performance.now() + ms
      due.set(item, Math.min(due.get(item) ?? at, at))
      wakeAt(at)
    },
    delete: (item) => void due.delete(item),
    items: () => [...due.keys()],
    has: (item) => due.has(item),
    close() {
      isClosed = true
      if (timer) clearTimeout(timer)
    },
  }
}
