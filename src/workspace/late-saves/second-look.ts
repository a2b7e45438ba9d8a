import type { Keeper } from '../../files/replace-seen.ts'
import { hashOf, isSettledAt } from '../record.ts'
import { createDisplacedLook, type Kept } from './displaced-look.ts'
import { keepPreImage, pruneKept } from './kept-pre-images.ts'
import { recoverPreImages } from './pre-image-recovery.ts'
import { type FileOfCase, type Keepers, preImagePath } from './pre-images.ts'
import { createRescue, type RescueNeeds } from './rescue.ts'

/**
 * Looks again at files whose name a write of the service took: an editor that had one open may have
 * saved into it after our last check (reliability.md §3.3).
 */
export interface LateSaves extends Keepers {
  /** What a service that died had still to look at. Before anything is read or written at a start. */
  recover(): Promise<void>
  /** Looks at everything now, and resolves when what was found is safe. */
  idle(): Promise<void>
}

export interface LateSavesDeps extends Omit<RescueNeeds, 'keeperOf'> {
  /** Where the pre-images are kept, in the state folder. */
  folder: string
  /** Resolves when files may be written; rejects where that is not to be expected. */
  mayWrite(): Promise<void>
  /** Called when files of a case were changed. */
  onRescued(caseId: string): void
}

/** Within this time an editor that opened a file has begun to write it. */
const LOOK_MS = 250
/** What is due within this time is looked at together: to wake the threads that let go of it costs more than that. */
const TOGETHER_MS = 25
/** After a rescue that failed, by a full disk say. */
const RETRY_MS = 5000
/** Of more than this the oldest is looked at before its time. */
const MAX_WAITING = 256
const MAX_WAITING_BYTES = 64 * 1024 * 1024
const PRUNE_MS = 60 * 60 * 1000

interface Waiting extends Kept {
  due: number
  hasFailed: boolean
}

export function createLateSaves(needs: LateSavesDeps): LateSaves {
  const { folder, log } = needs
  const rescue = createRescue({ ...needs, keeperOf })
  const look = createDisplacedLook({ ...needs, rescue })
  const waiting = new Set<Waiting>()
  const looking = new Set<Promise<void>>()
  const kept = new Set<Waiting>()
  let waitingBytes = 0
  let prunedAt = performance.now()
  let timer: NodeJS.Timeout | undefined
  let wakesAt = Number.POSITIVE_INFINITY

  function keeperOf({ id, file }: FileOfCase, expect: Buffer, hash = hashOf(expect)): Keeper {
    return {
      link: preImagePath(folder, { id, file }, hash),
      keep(at, { base = expect, stats, ctimeMs } = {}) {
        const isKnown = stats && ctimeMs !== undefined && isSettledAt(stats.mtimeMs)
        const stamped = isKnown ? { stats, ctimeMs } : null
        const place = { id, file, base, stamped, at, changedAt: null, restsUntil: 0 }
        const each = { ...place, due: 0, hasFailed: false }
        kept.add(each)
        wait(each, LOOK_MS)
        for (const oldest of waiting) {
          if (waiting.size <= MAX_WAITING && waitingBytes <= MAX_WAITING_BYTES) break
          oldest.restsUntil = 0
          begin(oldest, false)
        }
        if (performance.now() - prunedAt > PRUNE_MS) track(prune())
      },
    }
  }

  function wait(each: Waiting, ms: number): void {
    each.due = Math.ceil((performance.now() + ms) / TOGETHER_MS) * TOGETHER_MS
    waiting.add(each)
    waitingBytes += each.base.length
    if (each.due < wakesAt) wakeAt(each.due)
  }

  function wakeAt(due: number): void {
    clearTimeout(timer)
    wakesAt = due
    timer = setTimeout(beginDue, Math.max(0, due - performance.now())).unref()
  }

  function beginDue(): void {
    wakesAt = Number.POSITIVE_INFINITY
    const now = performance.now()
    let next = Number.POSITIVE_INFINITY
    for (const each of waiting) {
      if (each.due <= now) begin(each, false)
      else next = Math.min(next, each.due)
    }
    if (next < wakesAt) wakeAt(next)
  }

  function begin(each: Waiting, isLast: boolean): void {
    waiting.delete(each)
    waitingBytes -= each.base.length
    track(attend(each, isLast))
  }

  function track(work: Promise<void>): void {
    const tracked = work.finally(() => looking.delete(tracked))
    looking.add(tracked)
  }

  async function attend(each: Waiting, isLast: boolean): Promise<void> {
    const { id, file } = each
    try {
      const again = await look(each, isLast)
      if (again > 0) return wait(each, again)
    } catch (error) {
      const detail = `what was saved into ${file} of case ${id} is not safe yet: ${String(error)}`
      if (!each.hasFailed) log(detail)
      each.hasFailed = true
      if (!isLast) return wait(each, RETRY_MS)
      // a descriptor does not outlive the process
      await keepPreImage(folder, each).catch((next) => log(`${detail}, ${String(next)}`))
    }
    kept.delete(each)
  }

  async function prune(): Promise<void> {
    prunedAt = performance.now()
    const inUse = new Set([...kept].map(({ at }) => at))
    await pruneKept(folder, inUse).catch((error: unknown) => {
      log(`old pre-images could not be removed: ${String(error)}`)
    })
  }

  async function recover(): Promise<void> {
    await recoverPreImages(folder, rescue, log)
    await prune()
  }

  async function idle(): Promise<void> {
    while (waiting.size + looking.size > 0) {
      for (const each of waiting) begin(each, true)
      await Promise.all(looking)
    }
    clearTimeout(timer)
    wakesAt = Number.POSITIVE_INFINITY
  }

  return { keeperOf, idle, recover }
}
