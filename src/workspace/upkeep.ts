import { setTimeout as delay } from 'node:timers/promises'
import { UUID } from '../model/words.ts'
import type { Catalog } from './catalog.ts'
import type { GitActivity } from './git-activity.ts'
import type { KeyedMutex } from './keyed-mutex.ts'
import { looksSame } from './quick-look.ts'
import { inTurns, type Scan } from './scan.ts'
import type { HintKind, Settling } from './settling.ts'

/**
 * Keeps the catalog up to the disk. A hint of the watcher only says where to look; what is true, the
 * scan finds, and a sweep over everything finds what no hint told (reliability.md §4.2).
 */
export interface Upkeep {
  /** Something happened to this path, given relative to the folder of all cases. */
  hint(path: string, kind: HintKind): void
  /** Files of a case are to be looked at in `ms`. */
  later(caseId: string, ms: number): void
  /** Looks at everything by its stamps, and reads what differs. */
  sweep(): Promise<void>
  /** Looks at a case at once; where a person is saving, until that stands still or for too long. */
  still(caseId: string): Promise<void>
  /** For lists: the same for everything that is known to have changed. */
  current(): Promise<void>
  /** Resolves when git does not change files, or after `ms`; false when it still does. */
  gitDone(ms: number): Promise<boolean>
  close(): Promise<void>
}

export interface UpkeepNeeds {
  scan: Scan
  catalog: Catalog
  mutex: KeyedMutex
  settling: Settling
  git: GitActivity
  /** Whether a watcher tells of every change. */
  isLive(): boolean
  /** The path of a hint, in full. */
  pathOf(relative: string): string
  log(line: string): void
}

/** The time in which a burst of hints becomes one look. */
const GATHER_MS = 25
const GIT_POLL_MS = 25
const GIT_PATIENCE_MS = 10_000
/** So few cases that a list can look at all of them, where nothing watches. */
const FEW = 200
/** With more it waits only so long, and what a look found is good for ten times as long as it took. */
const MAX_WAIT_MS = 150
const AGE_PER_SWEEP = 10
/** A request waits so long for a file that a person is saving, and so long for one that looks whole. */
const PATIENCE_MS = 1250
const WHOLE_PATIENCE_MS = 250

export function createUpkeep(needs: UpkeepNeeds): Upkeep {
  const { scan, catalog, mutex, settling, git, log } = needs
  /** When each case is to be looked at. */
  const due = new Map<string, number>()
  let namesDue = Number.POSITIVE_INFINITY
  let naming: Promise<void> | null = null
  let timer: NodeJS.Timeout | null = null
  let nextWake = Number.POSITIVE_INFINITY
  let round: Promise<void> | null = null
  let closed = false
  let sweeping: Promise<void> | null = null
  let sweptUntil = Number.NEGATIVE_INFINITY

  function later(id: string, ms: number): void {
    const at = performance.now() + ms
    due.set(id, Math.min(due.get(id) ?? at, at))
    wakeAt(at)
  }

  function wakeAt(at: number): void {
    if (closed || round || at >= nextWake) return
    if (timer) clearTimeout(timer)
    nextWake = at
    timer = setTimeout(begin, Math.max(0, at - performance.now()))
  }

  function wakeForNext(): void {
    let next = namesDue
    for (const at of due.values()) next = Math.min(next, at)
    wakeAt(next)
  }

  function begin(): void {
    timer = null
    nextWake = Number.POSITIVE_INFINITY
    round ??= look()
      .catch((error: unknown) => log(`the files could not be looked at: ${String(error)}`))
      .finally(() => {
        round = null
        wakeForNext()
      })
  }

  /** Looks at what is due, unless git is at work: then all of it waits, and is looked at once. */
  async function look(): Promise<void> {
    if (await git.isBusy()) {
      await delay(GIT_POLL_MS)
      return
    }
    const now = performance.now()
    const ids = [...due].filter(([, at]) => at <= now).map(([id]) => id)
    for (const id of ids) due.delete(id)
    if (namesDue <= now) await lookAtNames()
    await inTurns(ids, (id) => mutex.run(id, () => scan.one(id)))
  }

  function lookAtNames(): Promise<void> {
    namesDue = Number.POSITIVE_INFINITY
    naming = scan.names()
    return naming
  }

  async function still(id: string): Promise<void> {
    const began = performance.now()
    for (;;) {
      const wait = await mutex.run(id, async () => {
        if (await git.isBusy()) return 0 // what was known is served meanwhile
        due.delete(id)
        const { wait, isHalf } = await scan.one(id)
        const patience = isHalf ? PATIENCE_MS : WHOLE_PATIENCE_MS
        return performance.now() - began < patience ? wait : 0
      })
      if (wait === 0) return
      await delay(Math.min(wait, 50))
    }
  }

  async function gitDone(ms: number): Promise<boolean> {
    const until = performance.now() + ms
    while (await git.isBusy()) {
      if (performance.now() > until || closed) return false
      await delay(GIT_POLL_MS)
    }
    return true
  }

  /** A sweep looks at the stamps of every file; what differs is looked at as if it had been told. */
  async function sweepOnce(): Promise<void> {
    if (!(await gitDone(GIT_PATIENCE_MS))) return
    await scan.names()
    for (const id of catalog.ids()) {
      const entry = catalog.entry(id)
      if (entry && !(await looksSame(entry, needs.pathOf(id)))) later(id, 0)
    }
  }

  function sweep(): Promise<void> {
    const began = performance.now()
    sweeping ??= sweepOnce().finally(() => {
      sweeping = null
      const ended = performance.now()
      sweptUntil = ended + (ended - began) * AGE_PER_SWEEP
    })
    return sweeping
  }

  /** In place of a watcher. */
  async function sweepForList(): Promise<void> {
    if (catalog.ids().length <= FEW) {
      await sweeping // it may have passed a file already that was changed since
      return sweep()
    }
    if (performance.now() < sweptUntil) return scan.names()
    await Promise.race([sweep(), delay(MAX_WAIT_MS)])
  }

  return {
    hint(path, kind) {
      const [id = '', ...rest] = path.split('/')
      if (!UUID.test(id)) {
        namesDue = Math.min(namesDue, performance.now() + GATHER_MS)
        wakeAt(namesDue)
        return
      }
      if (rest.length > 0) settling.hint(needs.pathOf(path), kind)
      later(id, GATHER_MS)
    },
    later,
    sweep,
    still,
    async current() {
      if (!needs.isLive()) await sweepForList()
      // twice, so that what the kernel has to tell is read before
      for (let turn = 0; turn < 2; turn++) await new Promise(setImmediate)
      if (closed || (await git.isBusy())) return
      await round
      if (namesDue < Number.POSITIVE_INFINITY) lookAtNames()
      await naming
      const all = inTurns([...due.keys()], still)
      await Promise.race([all, delay(PATIENCE_MS, undefined, { ref: false })])
    },
    gitDone,
    async close() {
      closed = true
      if (timer) clearTimeout(timer)
      await Promise.allSettled([round, sweeping])
    },
  }
}
