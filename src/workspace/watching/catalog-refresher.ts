/**
 * Detects edits of files by other programs: `folder-watcher.ts` reports the case, the refresher waits until the save
 * is complete and git is idle, `scan.ts` reads it, and `events/publisher.ts` makes the event.
 */

import { setTimeout as delay } from 'node:timers/promises'
import type { KeyedMutex } from '../../files/keyed-mutex.ts'
import { forEachInTurn, forEachLimited, pendingEvents, yieldIfBusy } from '../../files/yielding.ts'
import type { GitActivity } from '../../git/activity.ts'
import { UUID } from '../../model/name-patterns.ts'
import { hasMany, isUnchanged } from '../index/case-stamps.ts'
import type { Catalog } from '../index/catalog.ts'
import type { Layout } from '../layout.ts'
import type { Scan } from '../scan.ts'
import type { DueQueue } from './due-queue.ts'
import { createFolderWatcher, type WatchHealth } from './folder-watcher.ts'
import type { WaitsFor } from './stability.ts'

/**
 * Keeps the catalog up to date with the files. Watcher events only say where to read; the scan finds what changed,
 * and a rescan of all stamps finds changes without an event. Equal bytes are no change, so timing does not affect
 * what is published. Nothing is read while git changes files.
 */
export interface CatalogRefresher {
  /** Reads all cases; waits a moment for files that look half-saved. */
  readAll(signal: AbortSignal): Promise<void>
  /** Starts watching the files and rescanning them periodically. */
  start(): void
  /** Resolves when everything is watched for the first time, or cannot be. Call after `start`. */
  watched(): Promise<void>
  health(): WatchHealth
  /** Returns the files of a case that events named since this was called last; null if others may have changed. */
  takeChanged(caseId: string): ReadonlySet<string> | null
  /** Any file of this case may have changed. */
  mustReadAll(caseId: string): void
  /** Reads a case now if one of its files has changed. Waits for a person who is saving a record, up to a limit. */
  freshen(caseId: string): Promise<void>
  /**
   * Reads all cases that are known to have changed, so that a list shows every earlier edit. Waits for records too, up to a
   * limit; with `all` until each case was read.
   */
  freshenAll(waitsFor?: WaitsFor): Promise<void>
  /** Compares the stamps of all files and queues the cases that differ. */
  rescan(): Promise<void>
  /** Checks at once whether the folder of cases was created or replaced. */
  checkRoot(): void
  /** Ends all waiting; known values are served. */
  stopWaiting(): void
  close(): Promise<void>
}

export interface CatalogRefresherDeps {
  layout: Layout
  catalog: Pick<Catalog, 'ids' | 'stamps' | 'size' | 'loadInParts'>
  scan: Pick<Scan, 'readCase' | 'compareNames' | 'readAll' | 'unknownEntries' | 'canList'>
  mutex: KeyedMutex
  git: Pick<GitActivity, 'isBusy' | 'waitUntilIdle'>
  queue: DueQueue
  log(line: string): void
}

/** Events within this time cause one read. It is longer than a tick of the file system, so that the stamp then read is reliable. */
const GATHER_MS = 25
const GIT_POLL_MS = 25
const GIT_TIMEOUT_MS = 10_000
/** How long a request waits for a file that looks half-saved. */
const HALF_SAVED_TIMEOUT_MS = 1250
const HALF_SAVED_POLL_MS = 25
/** Delay after a failed read, for example after a disk error. */
const RETRY_MS = 5000
const TICK_MS = 1000
const RESCAN_MS = 30_000
/** Interval of rescans without a watcher. */
const UNWATCHED_RESCAN_MS = 5000
/** Rescans use at most a tenth of the time. */
const PAUSE_PER_RESCAN = 10
/**
 * If the wall clock moved so much further than the monotonic one, which stops during sleep, the machine slept or its clock
 * was set: files may have changed without an event. A tick that is only late lost none: `folder-watcher.ts` sees floods.
 */
const DRIFT_MS = 1000
/** If nothing is watched, a list of at most so many cases waits for a complete rescan; a longer one for a limited time. */
const FEW_CASES = 200
const LIST_TIMEOUT_MS = 150
/** After a start, lists need no rescan for so long. */
const START_IS_FRESH_MS = 1000
/** The watch over more cases begins a moment later, so that the first list is served before. */
const MANY_CASES = 2000
const FIRST_LIST_MS = 250
/** Queue key for listing the names of all cases. */
const NAMES = ''
const NONE: ReadonlySet<string> = new Set()

export function createCatalogRefresher(deps: CatalogRefresherDeps): CatalogRefresher {
  const { layout, catalog, scan, mutex, git, queue, log } = deps
  const watcher = createFolderWatcher({
    layout,
    onEvent: markDirty,
    onRootChange: checkRoot,
    log,
  })
  /** Cases that have left the queue but are not in the catalog yet. */
  const reading = new Set<{ id: string }>()
  /** By case, the files that events named since it was read; null for all. */
  const changed = new Map<string, Set<string> | null>()
  let working = Promise.resolve()
  let ticking: Promise<void> | null = null
  let rescanning: Promise<void> | null = null
  let firstTick = Promise.resolve()
  let timer: NodeJS.Timeout | undefined
  let lastDrift = clockDrift()
  /** The watch generation when the last rescan began. */
  let rescannedWith = -1
  let rescanEnded = Number.NEGATIVE_INFINITY
  let rescanTook = 0
  let mustCheckRoot = true
  let isStopping = false

  /** A change at this path, relative to the folder of all cases; an empty path is that folder itself. */
  function markDirty(path: string): void {
    const [id = '', ...rest] = path.split('/')
    const isCase = UUID.test(id)
    if (isCase) {
      addChanged(id, rest.join('/'))
      queue.add(id, GATHER_MS)
    }
    // a case folder is read by its name; other names need a listing
    if (rest.length === 0 && (!isCase || isForeign(id))) queue.add(NAMES, GATHER_MS)
  }

  function addChanged(id: string, file: string): void {
    const files = changed.get(id)
    if (!file.endsWith('.md') || files === null) changed.set(id, null)
    else changed.set(id, (files ?? new Set()).add(file))
  }

  function changedFiles(id: string): ReadonlySet<string> | null {
    const files = changed.get(id)
    return isUpToDate() ? (files === undefined ? NONE : files) : null
  }

  function takeChanged(id: string): ReadonlySet<string> | null {
    const files = changedFiles(id)
    changed.delete(id)
    return files
  }

  function isForeign(name: string): boolean {
    return scan.unknownEntries().some(({ file }) => file === `cases/${name}`)
  }

  /** Reads what is due. While git changes files everything waits and is read when git is done. */
  async function readDue(due: string[]): Promise<void> {
    const items = due.map((id) => ({ id }))
    for (const item of items) reading.add(item)
    const isGitBusy = await git.isBusy()
    const readItem = async ({ id }: { id: string }) => {
      if (isGitBusy) return queue.add(id, GIT_POLL_MS)
      if (id === NAMES) return readNames()
      await retryOnError(id, () => mutex.run(id, () => scan.readCase(id)))
    }
    await forEachLimited(items, (item) => readItem(item).finally(() => reading.delete(item)))
  }

  /** Runs a read. If it fails it is retried later, so that it does not block other cases. */
  async function retryOnError(item: string, work: () => Promise<unknown>): Promise<void> {
    try {
      await work()
    } catch (error) {
      log(`${item || 'the folder of cases'} could not be read: ${String(error)}`)
      queue.add(item, RETRY_MS)
    }
  }

  async function readNames(): Promise<void> {
    const own = { id: NAMES }
    reading.add(own)
    queue.delete(NAMES)
    await retryOnError(NAMES, scan.compareNames)
    reading.delete(own)
  }

  async function freshen(id: string, waitsFor: WaitsFor = 'records'): Promise<void> {
    // usually nothing has changed, and the request need not wait for the mutex
    const known = catalog.stamps(id)
    if (hasMany(known)) await catalog.loadInParts(id).then(pendingEvents)
    if (known && (await isUnchanged(known, layout.caseFolder(id), changedFiles(id)))) return
    const began = performance.now()
    const own = { id }
    for (;;) {
      const ms = await mutex.run(id, async () => {
        if (await git.isBusy()) return 0 // what was known is served meanwhile
        queue.delete(id)
        reading.add(own)
        // the last pass begins after the limit, so that it accepts what has not changed since
        const isLast = performance.now() - began >= HALF_SAVED_TIMEOUT_MS
        try {
          const { waitMs } = await scan.readCase(id)
          return isLast ? 0 : waitMs(waitsFor)
        } finally {
          reading.delete(own)
        }
      })
      if (ms === 0) return
      await delay(Math.min(ms, 50))
    }
  }

  async function freshenAll(waitsFor: WaitsFor = 'records'): Promise<void> {
    if (isStopping || (await git.isBusy())) return // what was known is served meanwhile
    if (!isUpToDate()) await rescanForList()
    await pendingEvents()
    if (dirtyItems().delete(NAMES)) await readNames()
    const dirty = dirtyItems()
    dirty.delete(NAMES)
    if (dirty.size === 0) return
    const all = forEachLimited([...dirty], (id) => retryOnError(id, () => freshen(id, waitsFor)))
    if (waitsFor === 'all') await all
    else await Promise.race([all, delay(HALF_SAVED_TIMEOUT_MS, undefined, { ref: false })])
  }

  /** Reads these cases until no file looks half-saved, up to a time limit. */
  async function readUntilComplete(
    halfSaved: readonly string[],
    signal: AbortSignal,
  ): Promise<void> {
    const until = performance.now() + HALF_SAVED_TIMEOUT_MS
    for (let left = halfSaved; left.length > 0; await delay(HALF_SAVED_POLL_MS)) {
      const accept = performance.now() < until ? 'complete' : 'anything'
      const stillHalfSaved: string[] = []
      await forEachInTurn(left, signal, async (id) => {
        const { retryInMs } = await mutex.run(id, () => scan.readCase(id, accept))
        if (retryInMs > 0) stillHalfSaved.push(id)
      })
      left = stillHalfSaved
    }
  }

  function dirtyItems(): Set<string> {
    return new Set([...queue.items(), ...[...reading].map(({ id }) => id)])
  }

  /** Used if nothing is watched: rescans, except that a list of many cases relies on the last rescan for a while. */
  async function rescanForList(): Promise<void> {
    if (catalog.size() <= FEW_CASES) return rescan()
    if (performance.now() < rescanEnded + rescanTook * PAUSE_PER_RESCAN) return readNames()
    await Promise.race([rescan(), delay(LIST_TIMEOUT_MS)])
  }

  async function rescan(): Promise<void> {
    // a running rescan may already have passed a file that changed since
    await rescanning
    if (isStopping) return
    rescanning ??= rescanOnce()
      .catch((error: unknown) => log(`the files could not be compared: ${String(error)}`))
      .finally(() => {
        rescanning = null
      })
    await rescanning
  }

  /** Ends early if git is busy or the service stops; then another rescan is due. */
  async function rescanOnce(): Promise<void> {
    const generation = watcher.generation()
    if (!(await git.waitUntilIdle(GIT_TIMEOUT_MS))) return
    const began = performance.now()
    await readNames()
    for (const id of catalog.ids()) {
      if (isStopping) return
      await yieldIfBusy()
      const known = catalog.stamps(id)
      if (known === undefined || (await isUnchanged(known, layout.caseFolder(id)))) continue
      changed.set(id, null)
      queue.add(id, 0)
    }
    rescanEnded = performance.now()
    rescanTook = rescanEnded - began
    rescannedWith = generation
  }

  function isRescanDue(): boolean {
    if (watcher.generation() !== rescannedWith) return true
    const isWatched = scan.canList() && watcher.health().watching !== 'degraded'
    const usual = isWatched ? RESCAN_MS : UNWATCHED_RESCAN_MS
    const pause = Math.max(usual, rescanTook * PAUSE_PER_RESCAN)
    return performance.now() >= rescanEnded + pause
  }

  /** Whether every change causes an event and none was missed. */
  function isUpToDate(): boolean {
    return watcher.isWatching() && watcher.generation() === rescannedWith
  }

  function tick(): void {
    const drift = clockDrift()
    if (Math.abs(drift - lastDrift) > DRIFT_MS) rescannedWith = -1
    lastDrift = drift
    if (!mustCheckRoot && watcher.isWatching() && !isRescanDue()) return
    ticking ??= checkRootAndRescan()
      .catch((error: unknown) => {
        mustCheckRoot = true
        log(`the watch over the files failed: ${String(error)}`)
      })
      .finally(() => {
        ticking = null
      })
  }

  function checkRoot(): void {
    mustCheckRoot = true
    tick()
  }

  async function checkRootAndRescan(): Promise<void> {
    if (isStopping) return
    mustCheckRoot = false
    await watcher.followRoot()
    if (!isRescanDue()) return
    const isFirst = watcher.generation() !== rescannedWith
    const done = rescan()
    // a later rescan may be slow, and must not delay the next check of the root
    if (isFirst) await done
  }

  async function begin(): Promise<void> {
    if (catalog.size() > MANY_CASES) await delay(FIRST_LIST_MS, undefined, { ref: false })
    if (isStopping) return
    lastDrift = clockDrift()
    timer = setInterval(tick, TICK_MS)
    tick()
    await ticking
  }

  queue.start((due) => {
    working = readDue(due).catch((error: unknown) => {
      log(`what is due could not be read: ${String(error)}`)
    })
    return working
  })

  return {
    async readAll(signal) {
      await readUntilComplete(await scan.readAll('complete', signal), signal)
      rescanEnded = performance.now()
      rescanTook = START_IS_FRESH_MS / PAUSE_PER_RESCAN
    },
    start() {
      firstTick = begin()
    },
    watched: () => firstTick,
    health: watcher.health,
    takeChanged,
    mustReadAll: (id) => void changed.set(id, null),
    freshen,
    freshenAll,
    rescan,
    checkRoot,
    stopWaiting() {
      isStopping = true
    },
    async close() {
      isStopping = true
      clearInterval(timer)
      queue.close()
      await watcher.close()
      await Promise.allSettled([ticking, rescanning, working])
    },
  }
}

function clockDrift(): number {
  return Date.now() - performance.now()
}
