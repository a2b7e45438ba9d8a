/** Longer than any part of a stop takes that works: steps are killed after 5 s, requests cut after 5 s. */
const HANGS_MS = 10_000

/** What is being done; rejects where it takes so long that it will not end. */
export async function inTime(
  what: string,
  done: Promise<void>,
  withinMs = HANGS_MS,
): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    const message = `the stop hangs: ${what} did not end within ${withinMs / 1000} s`
    timer = setTimeout(() => reject(new Error(message)), withinMs)
  })
  try {
    await Promise.race([done, late])
  } finally {
    clearTimeout(timer)
  }
}

/**
 * Resolves at the first SIGINT or SIGTERM. The second one is ignored, since npm passes on what the
 * terminal sends too; whoever sends a third wants the end now, and gets it.
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

/** Undoes what was opened before, then throws on. */
export function after(...undo: (() => Promise<void>)[]) {
  return async (error: unknown): Promise<never> => {
    for (const each of undo) await each()
    throw error
  }
}
