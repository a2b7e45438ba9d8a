/**
 * The way of a hand edit: `folder-watcher.ts` names the case, the synchronizer waits until the save is complete and
 * git is idle, `scan.ts` reads it, and `events/publisher.ts` makes the event.
 */

import { setTimeout as delay } from 'node:timers/promises'
import type { KeyedMutex } from '../../files/keyed-mutex.ts'
import { forEachInTurn, forEachLimited, yieldIfBusy } from '../../files/yielding.ts'
import { UUID } from '../../model/words.ts'
import { isUnchanged } from '../case-stamps.ts'
import type { Catalog } from '../catalog.ts'
import type { GitActivity } from '../git/git-activity.ts'
import type { Layout } from '../layout.ts'
import type { Scan } from '../scan.ts'
import type { DueQueue } from './due-queue.ts'
import { createFolderWatcher, type WatchHealth } from './folder-watcher.ts'
import type { EventKind, StabilityDetector } from './stability.ts'

/**
 * Keeps the catalog up to the files. An event of the watcher only says where to read; what is true, the case reader
 * finds, and a rescan by the stamps of all files finds what made no event. Equal bytes are no change, so timing plays
 * no part in what is published. While git changes files nothing is read.
 */
export interface Synchronizer {
  /** Reads everything as it is; waits a moment for files that look half-saved. */
  readAll(signal: AbortSignal): Promise<void>
  /** Watches the files from now on, and rescans them now and then. */
  start(): void
  /** After `start`: resolves when all is watched for the first time, or is known not to be. */
  watched(): Promise<void>
  health(): WatchHealth
  /** Something happened to this path, relative to the folder of all cases; that itself is an empty one. */
  markDirty(path: string, kind: EventKind): void
  /** Reads a case now, if a file of it has changed; where a person is saving, until that is stable or for too long. */
  freshen(caseId: string): Promise<void>
  /** The same for all that is known to have changed: a list made afterwards shows every edit made before. */
  freshenAll(): Promise<void>
  /** Compares the stamps of all files, and queues the cases that differ. */
  rescan(): Promise<void>
  /** Looks at once whether there is another folder to watch. */
  checkRoot(): void
  /** Nobody waits any more: what was known is served. */
  stopWaiting(): void
  close(): Promise<void>
}

export interface SynchronizerDeps {
  layout: Layout
  catalog: Pick<Catalog, 'ids' | 'known' | 'size'>
  scan: Pick<Scan, 'one' | 'names' | 'all' | 'unknownEntries' | 'canList'>
  mutex: KeyedMutex
  stability: Pick<StabilityDetector, 'noteEvent' | 'gatherMs'>
  git: Pick<GitActivity, 'isBusy' | 'waitUntilIdle'>
  queue: DueQueue
  log(line: string): void
}

const GIT_POLL_MS = 25
const GIT_PATIENCE_MS = 10_000
/** A request waits so long for a file that a person is saving, and so long for one that looks complete. */
const HALF_SAVED_PATIENCE_MS = 1250
const HALF_SAVED_POLL_MS = 25
const PATIENCE_MS = 250
/** After a read that failed, by a disk error say. */
const RETRY_MS = 5000
const TICK_MS = 1000
const RESCAN_MS = 30_000
/** Without the watcher, rescans are all there is. */
const UNWATCHED_RESCAN_MS = 5000
/** Of the time, a rescan takes at most a tenth. */
const PAUSE_PER_RESCAN = 10
/**
 * So late a tick means that the machine slept or the event loop hung: the kernel may have dropped events. By the
 * clock on the wall, as the other one stops in sleep.
 */
const DRIFT_MS = 1000
/** So few cases that a list can compare all of them where nothing is watched; with more it waits only so long. */
const FEW = 200
const LIST_PATIENCE_MS = 150
/** A list relies so long on what the start has read. */
const START_COUNTS_MS = 1000
/** In the queue it means: list the names of all cases. */
const NAMES = ''

export function createSynchronizer(deps: SynchronizerDeps): Synchronizer {
  const { layout, catalog, scan, mutex, stability, git, queue, log } = deps
  const watcher = createFolderWatcher({
    cases: layout.cases,
    onEvent: markDirty,
    onRootChange: tick,
    log,
  })
  /** Cases that left the queue and are not in the catalog yet. */
  const reading = new Set<{ id: string }>()
  let working = Promise.resolve()
  let ticking: Promise<void> | null = null
  let rescanning: Promise<void> | null = null
  let firstTick = Promise.resolve()
  let timer: NodeJS.Timeout | undefined
  let lastTick = Date.now()
  /** The generation of watches that was there when the last rescan began. */
  let rescannedWith = -1
  let rescanEnded = Number.NEGATIVE_INFINITY
  let rescanTook = 0
  let isStopping = false

  function markDirty(path: string, kind: EventKind): void {
    const [id = '', ...rest] = path.split('/')
    const isCase = UUID.test(id)
    const full = layout.caseFolder(path)
    if (isCase && rest.length > 0) stability.noteEvent(full, kind)
    if (isCase) queue.add(id, stability.gatherMs(full))
    // all names are listed only for those that are no case: a case's folder is known by its own name
    if (rest.length === 0 && (!isCase || isForeign(id))) queue.add(NAMES, stability.gatherMs(full))
  }

  function isForeign(name: string): boolean {
    return scan.unknownEntries().some(({ file }) => file === `cases/${name}`)
  }

  /** Reads what is due, unless git is at work: then all of it waits, and is read at once. */
  async function readDue(due: string[]): Promise<void> {
    const items = due.map((id) => ({ id }))
    for (const item of items) reading.add(item)
    const isGitBusy = await git.isBusy()
    const readItem = async ({ id }: { id: string }) => {
      if (isGitBusy) return queue.add(id, GIT_POLL_MS)
      if (id === NAMES) return readNames()
      await orLater(id, () => mutex.run(id, () => scan.one(id)))
    }
    await forEachLimited(items, (item) => readItem(item).finally(() => reading.delete(item)))
  }

  /** What cannot be read now is read later, and keeps nothing else from being read. */
  async function orLater(item: string, work: () => Promise<unknown>): Promise<void> {
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
    await orLater(NAMES, scan.names)
    reading.delete(own)
  }

  async function freshen(id: string): Promise<void> {
    // most often there is nothing to read: then no request waits for its turn at the case
    const known = catalog.known(id)
    if (known && isUnchanged(known, layout.caseFolder(id))) return
    const began = performance.now()
    const own = { id }
    for (;;) {
      const ms = await mutex.run(id, async () => {
        if (await git.isBusy()) return 0 // what was known is served meanwhile
        queue.delete(id)
        reading.add(own)
        try {
          const { retryInMs, isHalfSaved } = await scan.one(id)
          const patience = isHalfSaved ? HALF_SAVED_PATIENCE_MS : PATIENCE_MS
          return performance.now() - began < patience ? retryInMs : 0
        } finally {
          reading.delete(own)
        }
      })
      if (ms === 0) return
      await delay(Math.min(ms, 50))
    }
  }

  async function freshenAll(): Promise<void> {
    if (isStopping || (await git.isBusy())) return // what was known is served meanwhile
    if (!isLive()) await rescanForList()
    // twice, so that every event that the kernel has by now is read before
    for (let turn = 0; turn < 2; turn++) await new Promise(setImmediate)
    if (allDirty().delete(NAMES)) await readNames()
    const dirty = allDirty()
    dirty.delete(NAMES)
    if (dirty.size === 0) return
    const all = forEachLimited([...dirty], (id) => orLater(id, () => freshen(id)))
    await Promise.race([all, delay(HALF_SAVED_PATIENCE_MS, undefined, { ref: false })])
  }

  /** Reads these cases again until no file of theirs looks half-saved, or for too long. */
  async function untilComplete(halfSaved: readonly string[], signal: AbortSignal): Promise<void> {
    const until = performance.now() + HALF_SAVED_PATIENCE_MS
    for (let left = halfSaved; left.length > 0; await delay(HALF_SAVED_POLL_MS)) {
      const accept = performance.now() < until ? 'complete' : 'anything'
      const still: string[] = []
      await forEachInTurn(left, signal, async (id) => {
        const { isHalfSaved } = await mutex.run(id, () => scan.one(id, accept))
        if (isHalfSaved) still.push(id)
      })
      left = still
    }
  }

  function allDirty(): Set<string> {
    return new Set([...queue.items(), ...[...reading].map(({ id }) => id)])
  }

  /** Where nothing is watched: among many cases a list relies on a rescan for a while. */
  async function rescanForList(): Promise<void> {
    if (catalog.size() <= FEW) return rescan()
    if (performance.now() < rescanEnded + rescanTook * PAUSE_PER_RESCAN) return readNames()
    await Promise.race([rescan(), delay(LIST_PATIENCE_MS)])
  }

  async function rescan(): Promise<void> {
    // one that is under way may have passed a file already that was changed since
    await rescanning
    if (isStopping) return
    rescanning ??= rescanOnce()
      .catch((error: unknown) => log(`the files could not be compared: ${String(error)}`))
      .finally(() => {
        rescanning = null
      })
    await rescanning
  }

  /** Where git or the stop keeps it from comparing everything, another one is due. */
  async function rescanOnce(): Promise<void> {
    const generation = watcher.generation()
    if (!(await git.waitUntilIdle(GIT_PATIENCE_MS))) return
    const began = performance.now()
    const couldList = scan.canList()
    await readNames()
    if (!couldList && scan.canList()) watcher.watchAgain() // it could not watch the folders in there
    for (const id of catalog.ids()) {
      if (isStopping) return
      await yieldIfBusy()
      const known = catalog.known(id)
      if (known && !isUnchanged(known, layout.caseFolder(id))) queue.add(id, 0)
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

  /** Whether every change makes an event, and nothing was missed before. */
  function isLive(): boolean {
    return watcher.isWatching() && watcher.generation() === rescannedWith
  }

  function tick(): void {
    const now = Date.now()
    if (Math.abs(now - lastTick) > TICK_MS + DRIFT_MS) rescannedWith = -1
    lastTick = now
    ticking ??= checkAll()
      .catch((error: unknown) => log(`the watch over the files failed: ${String(error)}`))
      .finally(() => {
        ticking = null
      })
  }

  async function checkAll(): Promise<void> {
    if (isStopping) return
    await watcher.followRoot()
    if (!isRescanDue()) return
    const isFirst = watcher.generation() !== rescannedWith
    const done = rescan()
    // a usual one is slow, and must not keep this from seeing another root
    if (isFirst) await done
  }

  queue.start((due) => {
    working = readDue(due).catch((error: unknown) => {
      log(`what is due could not be read: ${String(error)}`)
    })
    return working
  })

  return {
    async readAll(signal) {
      await untilComplete(await scan.all('complete', signal), signal)
      rescanEnded = performance.now()
      rescanTook = START_COUNTS_MS / PAUSE_PER_RESCAN
    },
    start() {
      lastTick = Date.now()
      timer = setInterval(tick, TICK_MS)
      tick()
      firstTick = ticking ?? firstTick
    },
    watched: () => firstTick,
    health: watcher.health,
    markDirty,
    freshen,
    freshenAll,
    rescan,
    checkRoot: tick,
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
