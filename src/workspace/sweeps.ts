import { setTimeout as delay } from 'node:timers/promises'
import type { Catalog } from './catalog.ts'
import { looksSame } from './quick-look.ts'
import { createRests } from './rests.ts'

/** Looks at the stamps of every file: it finds what no hint told. */
export interface Sweeps {
  /** One that begins now. */
  sweep(): Promise<void>
  /** For a list where nothing watches: what it may show is not older than a look at so many files takes. */
  sweepForList(): Promise<void>
  /** All was looked at since then (`performance.now`), by a start. */
  sawAll(since: number): void
  /** Resolves when none is under way. */
  idle(): Promise<void>
}

interface SweepsNeeds {
  catalog: Pick<Catalog, 'ids' | 'known' | 'size'>
  pathOf(relative: string): string
  /** Whether a watcher tells of every change. */
  isLive(): boolean
  isStopping(): boolean
  /** Resolves before a sweep may begin; false where it may not. */
  mayBegin(): Promise<boolean>
  lookAtNames(): Promise<void>
  /** A case differs from what is known of it. */
  onDiffers(id: string): void
  onDone(): void
}

/** So few cases that a list can look at all of them. */
const FEW = 200
/** With more it waits only so long, and what a look found is good for ten times as long as it took. */
const MAX_WAIT_MS = 150
const AGE_PER_SWEEP = 10
/** What a start found, which reads and is long, is good for this at most: then all is watched, or never will be. */
const MAX_AGE_OF_START_MS = 1000

export function createSweeps(needs: SweepsNeeds): Sweeps {
  const { catalog, isStopping } = needs
  let sweeping: Promise<void> | null = null
  let sweptUntil = Number.NEGATIVE_INFINITY

  /** What differs is looked at as if it had been told. */
  async function sweepOnce(): Promise<void> {
    if (!(await needs.mayBegin())) return
    await needs.lookAtNames()
    // where a watcher tells of changes there is time, and what it tells comes first
    const rests = createRests(needs.isLive)
    for (const id of catalog.ids()) {
      if (isStopping()) return
      if (rests.isDue()) await rests.take()
      const known = catalog.known(id)
      if (known && !(await looksSame(known, needs.pathOf(id)))) needs.onDiffers(id)
    }
    needs.onDone()
  }

  async function sweep(): Promise<void> {
    // one that is under way may have passed a file already that was changed since
    await Promise.allSettled([sweeping])
    if (isStopping()) return
    const began = performance.now()
    sweeping ??= sweepOnce().finally(() => {
      sweeping = null
      const ended = performance.now()
      sweptUntil = ended + (ended - began) * AGE_PER_SWEEP
    })
    return sweeping
  }

  return {
    sweep,
    async sweepForList() {
      if (catalog.size() <= FEW) return sweep()
      if (performance.now() < sweptUntil) return needs.lookAtNames()
      await Promise.race([sweep(), delay(MAX_WAIT_MS)])
    },
    sawAll(since) {
      const now = performance.now()
      sweptUntil = now + Math.min((now - since) * AGE_PER_SWEEP, MAX_AGE_OF_START_MS)
    },
    async idle() {
      await Promise.allSettled([sweeping])
    },
  }
}
