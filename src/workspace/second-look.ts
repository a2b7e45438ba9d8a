import { closeSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { displacedContent, releaseDisplaced } from './displaced.ts'
import { recoverPreImages } from './pre-image-recovery.ts'
import { type FileOfCase, type Keepers, preImagePath } from './pre-images.ts'
import { hashOf } from './record.ts'
import type { Displaced, Keeper } from './replace-seen.ts'
import { createRescue, type RescueNeeds } from './rescue.ts'

/**
 * Looks again at files whose name a write of the service took: an editor that had one open may have
 * saved into it after our last check (reliability.md §3.3).
 */
export interface SecondLook extends Keepers {
  /** What a service that died had still to look at. Before anything is read or written at a start. */
  recover(): Promise<void>
  /** Looks at everything now, and resolves when what was found is safe. */
  idle(): Promise<void>
}

export interface SecondLookNeeds extends Omit<RescueNeeds, 'keeperOf'> {
  /** Where the pre-images are kept, in the state folder. */
  folder: string
  /** Resolves when files may be written; rejects where that is not to be expected. */
  mayWrite(): Promise<void>
  /** Called when files of a case were changed. */
  onRescued(caseId: string): void
}

/** Within this time an editor that opened a file has begun to write it. */
const LOOK_MS = 250
/** One that is seen at work (it emptied the file, or wrote into it less than so long ago) is waited for. */
const QUIET_MS = 100
const AGAIN_MS = 100
const PATIENCE_MS = 1500
/** After a rescue that failed, by a full disk say. */
const RETRY_MS = 5000
/** Of more than this the oldest is looked at before its time. */
const MAX_WAITING = 256
const MAX_WAITING_BYTES = 64 * 1024 * 1024
/** What is larger no editor made out of a file of ours. */
const MAX_BYTES = 64 * 1024 * 1024

interface Waiting extends FileOfCase, Displaced {
  base: Buffer
  since: number
  due: number
  hasFailed: boolean
}

export function createSecondLook(needs: SecondLookNeeds): SecondLook {
  const { folder, log } = needs
  const rescue = createRescue({ ...needs, keeperOf })
  const waiting = new Set<Waiting>()
  const looking = new Set<Promise<void>>()
  let waitingBytes = 0
  let timer: NodeJS.Timeout | undefined

  function keeperOf({ id, file }: FileOfCase, expect: Buffer): Keeper {
    return {
      link: preImagePath(folder, { id, file }, hashOf(expect)),
      keep(displaced) {
        const since = performance.now()
        const place = { id, file, base: expect, since, due: 0, hasFailed: false }
        wait({ ...place, ...displaced }, displaced.isWhole ? 0 : LOOK_MS)
      },
    }
  }

  function wait(each: Waiting, ms: number): void {
    each.due = performance.now() + ms
    waiting.add(each)
    waitingBytes += each.base.length
    for (const oldest of waiting) {
      if (waiting.size <= MAX_WAITING && waitingBytes <= MAX_WAITING_BYTES) break
      begin(oldest, true)
    }
    arm()
  }

  function arm(): void {
    clearTimeout(timer)
    if (waiting.size === 0) return
    const next = Math.min(...[...waiting].map((each) => each.due))
    timer = setTimeout(beginDue, Math.max(0, next - performance.now())).unref()
  }

  function beginDue(): void {
    const now = performance.now()
    for (const each of waiting) if (each.due <= now) begin(each, false)
    arm()
  }

  function begin(each: Waiting, isLast: boolean): void {
    waiting.delete(each)
    waitingBytes -= each.base.length
    const work = look(each, isLast)
      .catch((error: unknown) => {
        if (!each.hasFailed) {
          log(
            `what was saved into ${each.file} of case ${each.id} is not safe yet: ${String(error)}`,
          )
        }
        each.hasFailed = true
        return RETRY_MS
      })
      .then((again) => {
        if (again === 0) return
        if (!isLast) wait(each, again)
        else if (typeof each.at === 'number') closeSync(each.at)
      })
      .finally(() => looking.delete(work))
    looking.add(work)
  }

  /** In how many ms to look again; 0 when all is done. A last look leaves what is half-saved to the next start. */
  async function look(each: Waiting, isLast: boolean): Promise<number> {
    const { id, file, base, at } = each
    const found = displacedContent(at, MAX_BYTES)
    if (found && !found.bytes.equals(base)) {
      const isEmpty = found.bytes.length === 0
      const isBusy = isEmpty || Date.now() - found.mtimeMs < QUIET_MS
      const isSoon = performance.now() - each.since < PATIENCE_MS
      if (isLast && isEmpty && typeof at === 'string') return 0
      if (isBusy && isSoon && !each.isWhole) {
        if (!isLast) return AGAIN_MS
        await delay(AGAIN_MS)
        return look(each, isLast)
      }
      if (!isEmpty) {
        await needs.mayWrite()
        const theirs = found.bytes
        const isPatient = isSoon && !isLast
        if (!(await rescue({ id, file, base, theirs }, isPatient))) return AGAIN_MS
        needs.onRescued(id)
      }
    }
    await releaseDisplaced(at)
    return 0
  }

  async function idle(): Promise<void> {
    while (waiting.size + looking.size > 0) {
      for (const each of waiting) begin(each, true)
      await Promise.all(looking)
    }
    clearTimeout(timer)
  }

  return { keeperOf, idle, recover: () => recoverPreImages(folder, rescue, log) }
}
