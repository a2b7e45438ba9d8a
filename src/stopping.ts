/** Longer than any part of a working stop takes: steps are killed after 5 s, requests are cut after 5 s. */
const HANGS_MS = 10_000

/** The result of the work; rejects if it takes so long that it will probably never end. */
export async function inTime(
  what: string,
  done: Promise<void>,
  withinMs = HANGS_MS,
): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    const message = `shutdown is stuck: ${what} did not end within ${withinMs / 1000} s`
    timer = setTimeout(() => reject(new Error(message)), withinMs)
  })
  try {
    await Promise.race([done, late])
  } finally {
    clearTimeout(timer)
  }
}

/**
 * Resolves at the first SIGINT or SIGTERM. The second is ignored, because npm forwards the terminal's signal as
 * well. A third ends the process at once.
 */
export function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    let signals = 0
    const take = () => {
      signals++
      resolve()
      if (signals > 2) process.exit(1)
    }
    process.on('SIGINT', take).on('SIGTERM', take)
  })
}

/** Functions that close what was opened, run in reverse order. */
export interface UndoStack {
  /** Adds functions to run at the same time. */
  add(...steps: (() => unknown)[]): void
  /** Runs every function, even after one fails. Then throws: a single error as it is, several as one. */
  close(): Promise<void>
}

export function createUndoStack(): UndoStack {
  const stack: (() => unknown)[][] = []
  let closing: Promise<void> | null = null

  async function close(): Promise<void> {
    const errors: unknown[] = []
    for (let steps = stack.pop(); steps; steps = stack.pop()) {
      for (const each of await Promise.allSettled(steps.map(async (step) => step()))) {
        if (each.status === 'rejected') errors.push(each.reason)
      }
    }
    if (errors.length === 1) throw errors[0]
    if (errors.length === 0) return
    const reasons = errors.map((error) => String(error)).join('; ')
    throw new AggregateError(errors, `${errors.length} parts failed to close: ${reasons}`)
  }

  return {
    add: (...steps) => void stack.push(steps),
    close: () => (closing ??= close()),
  }
}
