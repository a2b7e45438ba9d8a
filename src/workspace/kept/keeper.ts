import { setImmediate } from 'node:timers/promises'
import type { CaseFolder } from '../../model/case-folder.ts'
import type { CaseEntry } from '../case-entry.ts'
import type { Catalog } from '../catalog.ts'
import { type LastGood, partsOfKey } from '../last-good.ts'
import { collectGarbage } from './collect-garbage.ts'
import type { KeptCases } from './kept-cases.ts'

/** Puts what changes where it is kept, a little later, and lets rest what nobody asks for. */
export interface Keeper extends LastGood {
  /** The case has changed, or its files stand still since. */
  changed(id: string): void
  /**
   * Keeps a case at once, which then rests, where all is told that its files say: so that a start which reads
   * thousands holds few of them at a time.
   */
  early(id: string): void
  /** From now on; before, what is told last of a case may not be what its files say. */
  begin(): void
  /** Resolves when all that has changed so far is kept. */
  idle(): Promise<void>
  close(): Promise<void>
}

export interface KeeperNeeds {
  /** Null where nothing can be kept. */
  kept: KeptCases | null
  catalog(): Pick<
    Catalog,
    'size' | 'has' | 'entry' | 'folder' | 'digest' | 'shelve' | 'lay' | 'rest' | 'letGo' | 'restOne'
  >
  /** What is to be told of the case, as text. */
  told(entry: CaseEntry, folder: CaseFolder): string
  /** Whether something besides its files decides what counts of a case. */
  isPinned(id: string): boolean
  /** Whether, before `begin`, just this was told last of a case, or is told as it begins. */
  isTold(id: string, told: string): boolean
  log(line: string): void
}

const PAUSE_MS = 500
/** What goes on changing is kept when it has done so, unless there is too much of it. */
const QUIET_MS = 3000
const MAX_WAITING = 5000
const SLICE_MS = 6
/** What was not asked for since then rests. */
const REST_MS = 20_000
const REST_EVERY_MS = 5000
/** What a start has read, and nobody has asked for: longer than a change is under way. */
const FIRST_REST_MS = 2500
/** After so many it is worth a collection of garbage; what a start left of it, the first quiet moment collects (vigil.ts). */
const MANY = 1000

export function createKeeper(needs: KeeperNeeds): Keeper {
  const { kept, catalog, told, isTold, isPinned, log } = needs
  /** Texts that are not kept yet, by case and by file. */
  const texts = new Map<string, Record<string, string>>()
  /** With the time of their last change, the earliest first. */
  const dirty = new Map<string, number>()
  /** What the disk did not take. */
  const failed = new Set<string>()
  let timer: NodeJS.Timeout | undefined
  let running = Promise.resolve()
  let hasBegun = false
  const resting = setInterval(() => rest(REST_MS), REST_EVERY_MS).unref()
  let first: NodeJS.Timeout | undefined
  let rested = 0

  function rest(ms: number): void {
    rested += catalog().rest(performance.now() - ms)
    if (rested < MANY) return
    rested = 0
    collectGarbage()
  }

  function restFirst(): void {
    rested += catalog().letGo()
    rest(FIRST_REST_MS)
  }

  function keepOne(id: string): void {
    if (!catalog().has(id)) {
      if (hasBegun) forget(id)
      return
    }
    const [entry, folder, digest] = [
      catalog().entry(id),
      catalog().folder(id),
      catalog().digest(id),
    ]
    if (!kept || !entry || !folder || !digest) return
    const is = told(entry, folder)
    if (!hasBegun && !isTold(id, is)) return
    const keeping = { entry, digest, texts: texts.get(id) ?? {}, told: is, mayRest: !isPinned(id) }
    const place = kept.keep(keeping)
    if (!place) failed.add(id)
    else texts.delete(id)
    if (!place?.names) return
    catalog().shelve(id, place)
    if (!hasBegun) {
      dirty.delete(id)
      catalog().restOne(id)
    }
  }

  function forget(id: string): void {
    texts.delete(id)
    dirty.delete(id)
    failed.delete(id)
    kept?.remove(id)
  }

  /** What cannot be kept costs the next start some time, and this service nothing. */
  function keepOrSay(id: string): void {
    try {
      keepOne(id)
    } catch (error) {
      failed.add(id)
      log(`what was read of case ${id} is not kept for the next start: ${String(error)}`)
    }
  }

  async function keepAll(upTo: number): Promise<void> {
    let began = performance.now()
    for (const [id, changedAt] of dirty) {
      if (changedAt > upTo && dirty.size <= MAX_WAITING) break
      dirty.delete(id)
      keepOrSay(id)
      if (performance.now() - began < SLICE_MS) continue
      await setImmediate()
      began = performance.now()
    }
    kept?.flush()
    if (dirty.size > 0) arm()
    for (const id of failed) dirty.set(id, began) // with the next change
    failed.clear()
  }

  function idle(): Promise<void> {
    return keep(0)
  }

  /** What has not changed for so long. */
  function keep(quietMs: number): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    running = running.then(() => keepAll(performance.now() - quietMs))
    return running
  }

  function arm(): void {
    timer ??= setTimeout(keep, PAUSE_MS, QUIET_MS).unref()
  }

  return {
    changed(id) {
      if (!kept) return
      dirty.delete(id)
      dirty.set(id, performance.now())
      if (hasBegun) arm()
    },
    early(id) {
      if (!hasBegun) keepOrSay(id)
    },
    begin() {
      hasBegun = true
      for (const id of kept?.found.keys() ?? []) if (!catalog().has(id)) dirty.set(id, 0)
      kept?.forgetFound()
      timer ??= setTimeout(async () => {
        await idle()
        first = setTimeout(restFirst, FIRST_REST_MS + PAUSE_MS).unref()
      }, PAUSE_MS).unref()
    },
    remember(key, text) {
      const [id, file] = partsOfKey(key)
      const known = texts.get(id)
      if (known) known[file] = text
      else texts.set(id, { [file]: text })
    },
    recall(key) {
      const [id, file] = partsOfKey(key)
      return texts.get(id)?.[file] ?? kept?.text(id, file) ?? null
    },
    forget,
    idle,
    async close() {
      clearInterval(resting)
      clearTimeout(first)
      if (hasBegun) await idle()
      kept?.close()
    },
  }
}
