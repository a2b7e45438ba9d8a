import type { Change } from './catalog.ts'
import type { Scan } from './scan.ts'

/**
 * Keeps lists honest while nothing watches the files: a list first looks at the disk, but waits for
 * a long look only so long; the look then goes on, and the next list has it.
 */
export interface Freshness {
  /** For lists: what is known may be this old, and the wait for news this long. */
  list(): Promise<void>
  /** A whole look at the disk, to its end. */
  whole(): Promise<void>
  close(): Promise<void>
}

/** A look may take this share of the time: what it found is good for ten times as long as it took. */
const AGE_PER_LOOK = 10
const MAX_WAIT_MS = 150

export function createFreshness(
  scan: Scan,
  publish: (changes: Change[]) => void,
  log: (line: string) => void,
): Freshness {
  let looking: Promise<void> | null = null
  let goodUntil = Number.NEGATIVE_INFINITY

  function look(): Promise<void> {
    const began = performance.now()
    looking ??= scan
      .all()
      .then(publish)
      .finally(() => {
        looking = null
        const ended = performance.now()
        goodUntil = ended + (ended - began) * AGE_PER_LOOK
      })
    return looking
  }

  return {
    async list() {
      if (looking === null && performance.now() < goodUntil) {
        publish(await scan.names())
        return
      }
      const found = look().catch((error: unknown) =>
        log(`the files could not be looked at: ${String(error)}`),
      )
      let timer: NodeJS.Timeout | undefined
      const enough = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, MAX_WAIT_MS)
      })
      await Promise.race([found, enough])
      clearTimeout(timer)
    },
    whole: look,
    async close() {
      await looking
    },
  }
}
