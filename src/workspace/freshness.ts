import type { Catalog } from './catalog.ts'
import type { Scan } from './scan.ts'

/**
 * Keeps lists honest while nothing watches the files: a list first looks at the disk. With many
 * cases it waits only so long; the look then goes on, and the next list has it.
 */
export interface Freshness {
  /** For lists: with few cases they see every change made before. */
  list(): Promise<void>
  /** A whole look at the disk, to its end. */
  whole(): Promise<void>
  close(): Promise<void>
}

/** So few cases that every list can look at all of them. */
const FEW = 200
/** With more, what a look found is good for ten times as long as it took. */
const AGE_PER_LOOK = 10
const MAX_WAIT_MS = 150

export function createFreshness(
  scan: Scan,
  catalog: Catalog,
  log: (line: string) => void,
): Freshness {
  let looking: Promise<void> | null = null
  let queued: Promise<void> | null = null
  let goodUntil = Number.NEGATIVE_INFINITY

  function look(): Promise<void> {
    const began = performance.now()
    looking = scan.all().finally(() => {
      looking = null
      const ended = performance.now()
      goodUntil = ended + (ended - began) * AGE_PER_LOOK
    })
    return looking
  }

  /** A look under way may have passed a file already that was changed since: one more follows it. */
  function freshLook(): Promise<void> {
    if (looking === null) return look()
    const again = () => {
      queued = null
      return look()
    }
    queued ??= looking.then(again, again)
    return queued
  }

  return {
    async list() {
      const few = catalog.ids().length <= FEW
      if (!few && looking === null && performance.now() < goodUntil) return scan.names()
      const found = (few || looking === null ? freshLook() : looking).catch((error: unknown) =>
        log(`the files could not be looked at: ${String(error)}`),
      )
      if (few) return found
      let timer: NodeJS.Timeout | undefined
      const enough = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, MAX_WAIT_MS)
      })
      await Promise.race([found, enough])
      clearTimeout(timer)
    },
    whole: freshLook,
    async close() {
      while (looking ?? queued) await Promise.allSettled([looking, queued])
    },
  }
}
