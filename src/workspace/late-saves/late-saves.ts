import { makeFolder } from '../../files/durable-write.ts'
import { discard } from '../../files/new-file.ts'
import type { ReplacedFileTracker } from '../../files/replace-seen.ts'
import { readRegular } from '../../files/safe-read.ts'
import { hashOf, isSettledAt } from '../record.ts'
import {
  createLateSaveMerge,
  type LateSaveMergeDeps,
  type MergeLateSave,
} from './merge-late-save.ts'
import {
  type FileOfCase,
  keepPreImage,
  type PreImage,
  preImagePath,
  preImagesIn,
  prunePreImages,
  type ReplacedFileTrackers,
} from './pre-images.ts'
import { createRecheck, type TrackedFile } from './recheck.ts'
import { MAX_REPLACED_BYTES } from './replaced-file.ts'

/**
 * Finds saves that come between the service's last check of a file and the rename that replaces it. An editor that
 * had the replaced file open writes into a file without a name. The service keeps that file, checks it again for some
 * seconds, and merges the save into the new file or writes a conflict copy beside it (docs/events.md#edits-by-hand).
 */
export interface LateSaves extends ReplacedFileTrackers {
  /** Merges late saves that a killed service left behind. Call it at start, before anything is read or written. */
  recover(): Promise<void>
  /** Checks every replaced file now. Resolves when all late saves are merged or copied. */
  idle(): Promise<void>
}

export interface LateSavesDeps extends Omit<LateSaveMergeDeps, 'trackerFor'> {
  /** The folder of pre-images, in the state folder. */
  folder: string
  /** Resolves when files may be written; rejects if they will not become writable. */
  mayWrite(): Promise<void>
  /** Called when files of a case were changed. */
  onMerged(caseId: string): void
  /** An editor that has opened a file begins to write within this time. */
  recheckMs: number
}

/** Files due within this time are checked together. */
const BATCH_MS = 25
/** Delay before retrying a failed merge, for example when the disk is full. */
const RETRY_MS = 5000
/** If more files wait, the oldest are checked early. */
const MAX_WAITING = 256
const MAX_WAITING_BYTES = 64 * 1024 * 1024
const PRUNE_MS = 60 * 60 * 1000

interface Waiting extends TrackedFile {
  due: number
  hasFailed: boolean
}

export function createLateSaves(deps: LateSavesDeps): LateSaves {
  const { folder, log } = deps
  const mergeLateSave = createLateSaveMerge({ ...deps, trackerFor })
  const recheck = createRecheck({ ...deps, mergeLateSave })
  const waiting = new Set<Waiting>()
  const rechecking = new Set<Promise<void>>()
  const tracked = new Set<Waiting>()
  let waitingBytes = 0
  let prunedAt = performance.now()
  let timer: NodeJS.Timeout | undefined
  let wakesAt = Number.POSITIVE_INFINITY

  function trackerFor(
    { id, file }: FileOfCase,
    expect: Buffer,
    hash = hashOf(expect),
  ): ReplacedFileTracker {
    return {
      link: preImagePath(folder, { id, file }, hash),
      keep(at, { base = expect, stats, ctimeMs } = {}) {
        const isKnown = stats && ctimeMs !== undefined && isSettledAt(stats.mtimeMs)
        const stamped = isKnown ? { stats, ctimeMs } : null
        const place = { id, file, base, stamped, at, changedAt: null, recheckUntil: 0 }
        const each = { ...place, due: 0, hasFailed: false }
        tracked.add(each)
        wait(each, deps.recheckMs)
        for (const oldest of waiting) {
          if (waiting.size <= MAX_WAITING && waitingBytes <= MAX_WAITING_BYTES) break
          oldest.recheckUntil = 0
          begin(oldest, false)
        }
        if (performance.now() - prunedAt > PRUNE_MS) track(prune())
      },
    }
  }

  function wait(each: Waiting, ms: number): void {
    each.due = Math.ceil((performance.now() + ms) / BATCH_MS) * BATCH_MS
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
    track(recheckOne(each, isLast))
  }

  function track(work: Promise<void>): void {
    const tracked = work.finally(() => rechecking.delete(tracked))
    rechecking.add(tracked)
  }

  async function recheckOne(each: Waiting, isLast: boolean): Promise<void> {
    const { id, file } = each
    try {
      const again = await recheck(each, isLast)
      if (again > 0) return wait(each, again)
    } catch (error) {
      const detail = `a late save of ${file} in case ${id} is not merged yet: ${String(error)}`
      if (!each.hasFailed) log(detail)
      each.hasFailed = true
      if (!isLast) return wait(each, RETRY_MS)
      // a file descriptor ends with the process
      await keepPreImage(folder, each).catch((next) => log(`${detail}, ${String(next)}`))
    }
    tracked.delete(each)
  }

  async function prune(): Promise<void> {
    prunedAt = performance.now()
    const inUse = new Set([...tracked].map(({ at }) => at))
    await prunePreImages(folder, inUse).catch((error: unknown) => {
      log(`old pre-images could not be removed: ${String(error)}`)
    })
  }

  async function recover(): Promise<void> {
    await recoverPreImages(folder, mergeLateSave, log)
    await prune()
  }

  async function idle(): Promise<void> {
    while (waiting.size + rechecking.size > 0) {
      for (const each of waiting) begin(each, true)
      await Promise.all(rechecking)
    }
    clearTimeout(timer)
    wakesAt = Number.POSITIVE_INFINITY
  }

  return { trackerFor, idle, recover }
}

/**
 * After a crash the replaced bytes are unknown, so each late save becomes a conflict copy. One that cannot be copied
 * is logged and stays for the next start.
 */
async function recoverPreImages(
  folder: string,
  mergeLateSave: MergeLateSave,
  log: (line: string) => void,
): Promise<void> {
  await makeFolder(folder, 0o700)
  for (const each of await preImagesIn(folder)) {
    const { id, file, path } = each
    const problem = await recoverPreImage(each, mergeLateSave).catch(String)
    if (problem === null) await discard(path)
    else log(`a late save of ${file} in case ${id} stays at ${path}: ${problem}`)
  }
}

/** Returns null once the save is safe, else the reason why it is not. */
async function recoverPreImage(
  { path, hash, id, file }: PreImage,
  mergeLateSave: MergeLateSave,
): Promise<string | null> {
  const read = await readRegular(path, { maxBytes: MAX_REPLACED_BYTES })
  if (!read.ok) return read.detail
  if (read.bytes.length === 0 || hashOf(read.bytes) === hash) return null
  const result = await mergeLateSave({ id, file, base: null, theirs: read.bytes }, false)
  return result === 'case_deleted' ? 'the case was deleted' : null
}
