import { setTimeout as delay } from 'node:timers/promises'
import type { ReplacedFile, Stamped } from '../../files/replace-seen.ts'
import { createStabilityDetector } from '../sync/stability.ts'
import { displacedContent, isUntouched, releaseDisplaced } from './displaced.ts'
import { keepPreImage, renamePreImage } from './kept-pre-images.ts'
import type { FileOfCase } from './pre-images.ts'
import type { Rescue } from './rescue.ts'

/** A displaced file into which an editor may still write. */
export interface Kept extends FileOfCase {
  at: ReplacedFile
  /** What is known of it: its editors began with this, or it was rescued. */
  base: Buffer
  /** While it had these it held `base`; null where stats do not tell. */
  stamped: Stamped | null
  /** Since when it differs from `base`. */
  changedAt: number | null
  /** Until when an editor that wrote into it may go on. */
  restsUntil: number
}

interface LookNeeds {
  folder: string
  rescue: Rescue
  mayWrite(): Promise<void>
  onRescued(caseId: string): void
  log(line: string): void
}

/** How soon again. */
const AGAIN_MS = 250
/** An editor may save in several pieces; after so long a rest it is done. */
const REST_MS = 2000
/** What one that never rests wrote is rescued so often. */
const PATIENCE_MS = 3000

/**
 * Looks at a displaced file, rescues what was saved into it once that stands still, and lets go of
 * it when its editor is done. Gives in how many ms to look again; 0 when all is done. The last look
 * waits for what is half-saved, but leaves an emptied file to the next start.
 */
export function createDisplacedLook(needs: LookNeeds) {
  const { folder, rescue, log } = needs
  const stability = createStabilityDetector()

  return async function look(each: Kept, isLast: boolean): Promise<number> {
    const found = isUntouched(each.at, each.stamped) ? null : displacedContent(each.at)
    if (found && !found.bytes.equals(each.base)) {
      const isEmpty = found.bytes.length === 0
      if (isLast && isEmpty && typeof each.at === 'string') return 0
      const now = performance.now()
      each.changedAt ??= now
      const isSoon = now - each.changedAt < PATIENCE_MS
      const unrest = stability.remainingMs(
        String(each.at),
        found.stats,
        isEmpty ? 'unreadable' : 'truncated',
      )
      if (unrest > 0 && isSoon) {
        if (!isLast) return Math.min(unrest, AGAIN_MS)
        await delay(unrest)
        return look(each, isLast)
      }
      if (isEmpty) each.restsUntil = each.changedAt + REST_MS
      else {
        const rescued = await rescueFrom(each, found.bytes, isSoon && !isLast)
        if (rescued === 'busy') return AGAIN_MS
        if (rescued === 'homeless') return 0
      }
    }
    if (!isLast && performance.now() < each.restsUntil) return AGAIN_MS
    stability.forget(String(each.at))
    await releaseDisplaced(each.at)
    return 0
  }

  async function rescueFrom(each: Kept, theirs: Buffer, isPatient: boolean) {
    const { id, file, base } = each
    await needs.mayWrite()
    const rescued = await rescue({ id, file, base, theirs }, isPatient)
    if (rescued === 'homeless') {
      const path = await keepPreImage(folder, each)
      log(`case ${id} is gone; what was saved last into its ${file} is kept as ${path}`)
    }
    if (rescued === 'safe') {
      needs.onRescued(id)
      Object.assign(each, { base: theirs, stamped: null, changedAt: null })
      each.restsUntil = performance.now() + REST_MS
      each.at = await renamePreImage(folder, each)
    }
    return rescued
  }
}
