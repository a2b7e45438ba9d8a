import { setTimeout as delay } from 'node:timers/promises'
import type { KeyedMutex } from '../files/keyed-mutex.ts'
import { UUID } from '../model/words.ts'
import { createAgenda } from './agenda.ts'
import type { Catalog } from './catalog.ts'
import type { GitActivity } from './git/git-activity.ts'
import { inTurns } from './in-turns.ts'
import type { Scan } from './scan.ts'
import type { HintKind, Settling } from './settling.ts'
import { createStillCases } from './still-cases.ts'
import { createSweeps } from './sweeps.ts'

/**
 * Keeps the catalog up to the disk. A hint of the watcher only says where to look; what is true, the
 * scan finds, and a sweep over everything finds what no hint told (reliability.md §4.2).
 */
export interface Upkeep {
  /** Something happened to this path, given relative to the folder of all cases; that itself is an empty one. */
  hint(path: string, kind: HintKind): void
  /** Files of a case are to be looked at in `ms`. */
  later(caseId: string, ms: number): void
  /** Looks at everything by its stamps, and reads what differs. */
  sweep(): Promise<void>
  /** All was looked at since then (`performance.now`), by a start. */
  sawAll(since: number): void
  /** Looks at a case at once; where a person is saving, until that stands still or for too long. */
  still(caseId: string): Promise<void>
  /** For lists: the same for everything that is known to have changed. */
  current(): Promise<void>
  /** Resolves when git does not change files, or after `ms` or at the stop; false when it still does. */
  gitDone(ms: number): Promise<boolean>
  /** Nobody waits for git any more. */
  stopWaiting(): void
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

const GIT_POLL_MS = 25
const GIT_PATIENCE_MS = 10_000
/** After so many hints since the last sweep began, the kernel's queue may have dropped others. */
const CALM = 4000
/** A request waits so long for a file that a person is saving, and so long for one that looks whole. */
const PATIENCE_MS = 1250
const WHOLE_PATIENCE_MS = 250
/** So many cases that wait to be looked at can be seen to be as they were read without a look. */
const FEW = 8
/** After a look that failed, by a disk error say. */
const RETRY_MS = 5000
/** On the agenda it stands for the names of all cases. */
const NAMES = ''

export function createUpkeep(needs: UpkeepNeeds): Upkeep {
  const { scan, catalog, mutex, settling, git, log } = needs
  const agenda = createAgenda(look)
  let round = Promise.resolve()
  let naming = Promise.resolve()
  /** Looks under way: what they look at is no longer on the agenda, and not yet in the catalog. */
  const looks = new Set<Promise<unknown>>()
  let hints = 0
  let sweptHints = 0
  const stillCases = createStillCases({
    ...{ catalog, pathOf: needs.pathOf, isDue: agenda.has },
    isListening: () => needs.isLive() && looks.size === 0 && hints - sweptHints < CALM,
  })
  let isStopping = false
  let hintsBefore = 0
  const sweeps = createSweeps({
    ...{ catalog, pathOf: needs.pathOf, isLive: needs.isLive, isStopping: () => isStopping },
    mayBegin() {
      hintsBefore = hints
      return gitDone(GIT_PATIENCE_MS)
    },
    lookAtNames,
    onDiffers: (id) => agenda.add(id, 0),
    onDone() {
      sweptHints = hintsBefore
    },
  })

  /** Looks at what is due, unless git is at work: then all of it waits, and is looked at once. */
  function look(due: string[]): Promise<void> {
    round = noted(async () => {
      if (await git.isBusy()) {
        for (const item of due) agenda.add(item, GIT_POLL_MS)
        return
      }
      if (due.includes(NAMES)) await lookAtNames()
      await inTurns(
        due.filter((item) => item !== NAMES),
        (id) => unlessFailing(id, () => mutex.run(id, () => scan.one(id))),
      )
    })
    return round
  }

  function noted<T>(work: () => Promise<T>): Promise<T> {
    const look = work().finally(() => looks.delete(look))
    looks.add(look)
    return look
  }

  /** What cannot be looked at now is looked at later, and keeps nothing else from it. */
  async function unlessFailing(item: string, work: () => Promise<unknown>): Promise<void> {
    try {
      await work()
    } catch (error) {
      log(`${item || 'the folder of cases'} could not be looked at: ${String(error)}`)
      agenda.add(item, RETRY_MS)
    }
  }

  function lookAtNames(): Promise<void> {
    agenda.delete(NAMES)
    naming = noted(() => unlessFailing(NAMES, () => scan.names()))
    return naming
  }

  /** What the kernel had to tell is read after two turns of the event loop. */
  async function allHeard(): Promise<void> {
    for (let turn = 0; turn < 2; turn++) await new Promise(setImmediate)
  }

  async function still(id: string): Promise<void> {
    await allHeard()
    if (stillCases.isUntouched(id) || stillCases.isStill(id)) return
    const began = performance.now()
    for (;;) {
      const wait = await mutex.run(id, async () => {
        if (await git.isBusy()) return 0 // what was known is served meanwhile
        agenda.delete(id)
        const { wait, isHalf } = await noted(() => scan.one(id))
        const patience = isHalf ? PATIENCE_MS : WHOLE_PATIENCE_MS
        return performance.now() - began < patience ? wait : 0
      })
      if (wait === 0) return
      await delay(Math.min(wait, 50))
    }
  }

  async function gitDone(ms: number): Promise<boolean> {
    const until = performance.now() + ms
    while (await git.isBusy('now')) {
      if (performance.now() > until || isStopping) return false
      await delay(GIT_POLL_MS)
    }
    return true
  }

  /** Whether nothing that is due would be found to have changed. */
  function isCurrent(): boolean {
    if (!needs.isLive() || looks.size > 0) return false
    const due = agenda.items()
    return due.length <= FEW && due.every((item) => item !== NAMES && stillCases.isStill(item))
  }

  function casesDue(): string[] {
    return agenda.items().filter((item) => item !== NAMES)
  }

  function stillAll(ids: readonly string[]): Promise<void> {
    return inTurns(ids, (id) => unlessFailing(id, () => still(id)))
  }

  function isStranger(id: string): boolean {
    return scan.strangers().some(({ file }) => file === `cases/${id}`)
  }

  return {
    hint(path, kind) {
      hints++
      const [id = '', ...rest] = path.split('/')
      const isCase = UUID.test(id)
      const full = needs.pathOf(path)
      if (isCase && rest.length > 0) settling.hint(full, kind)
      if (isCase) agenda.add(id, settling.gather(full))
      // all names are looked at only for those that are no case: a case's folder is known by its own
      if (!isCase || (rest.length === 0 && isStranger(id))) agenda.add(NAMES, settling.gather(full))
    },
    later: (id, ms) => agenda.add(id, ms),
    sweep: sweeps.sweep,
    sawAll: sweeps.sawAll,
    still,
    async current() {
      if (isStopping || (await git.isBusy())) return // what was known is served meanwhile
      if (!needs.isLive()) await sweeps.sweepForList()
      await allHeard()
      if (isCurrent()) return
      await round
      if (agenda.items().includes(NAMES)) lookAtNames()
      await naming
      const others = Promise.allSettled(looks)
      const cases = new Set(casesDue())
      const all = Promise.all([
        stillAll([...cases]),
        // what another list took off the agenda is not in the catalog yet, or was put back half-saved
        others.then(() => stillAll(casesDue().filter((id) => !cases.has(id)))),
      ])
      await Promise.race([all, delay(PATIENCE_MS, undefined, { ref: false })])
    },
    gitDone,
    stopWaiting() {
      isStopping = true
    },
    async close() {
      isStopping = true
      agenda.close()
      await Promise.allSettled([round, sweeps.idle()])
    },
  }
}
