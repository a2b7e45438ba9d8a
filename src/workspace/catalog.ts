import type { CaseFolder } from '../model/case-folder.ts'
import type { Digest } from './case-digest.ts'
import type { CaseEntry } from './case-entry.ts'
import { createDerivedValues, type DerivedNeeds } from './derived-values.ts'
import { createFamilies } from './families.ts'
import type { KeptCase } from './kept/kept-case.ts'
import type { KeptCases } from './kept/kept-cases.ts'
import { KeptDamage } from './kept/kept-damage.ts'
import type { KeptReader } from './kept/kept-reader.ts'
import { createRecentChanges } from './recent-changes.ts'

/**
 * What the files say, kept in memory so that a GET reads no file that has not changed. It is derived:
 * thrown away, it is read again from the files. Only the store puts values in.
 */
export interface Catalog {
  /** Read again from where it is kept, if it rests. */
  entry(id: string): CaseEntry | undefined
  has(id: string): boolean
  /** What tells whether its files are as they were: its entry, or what stands for it while it rests. */
  known(id: string): CaseEntry | KeptCase | undefined
  ids(): string[]
  size(): number
  /** What stands for a case on the disk, if that is what it is. */
  kept(id: string): KeptCase | null
  /** The cases that name this one as their parent. */
  children(id: string): string[]
  put(entry: CaseEntry): void
  remove(id: string): CaseEntry | undefined
  /** All that is known of a case, the newest session and proof last; undefined when unknown. */
  folder(id: string): CaseFolder | undefined
  /** What lists show of a case; undefined when unknown. */
  digest(id: string): Digest | undefined
  /** Forgets what was computed from an entry, after a change to it. */
  touch(id: string): void
  /**
   * A case that rests from the beginning: its files were found as they were read for its record. `json` is its own,
   * where that is at hand: the first list shows it.
   */
  lay(id: string, kept: KeptCase, json?: string): void
  /** What stands for it from now on, until it changes. */
  shelve(id: string, kept: KeptCase): void
  /** Lets go of the values of cases that were not asked for since then (`performance.now`); says of how many. */
  rest(since: number): number
  /** Of the JSON that was at hand for the first list; says of how many cases. */
  letGo(): number
  /** The same as `rest` of one case, if something stands for it. */
  restOne(id: string): void
  /** Grows with every change: what was computed from the catalog at another version is stale. */
  version(): number
  /** The cases of all changes since a version; null where that is not known any more. */
  changesSince(version: number): readonly string[] | null
}

interface Slot {
  /** Null while it rests: then `kept` is not. */
  entry: CaseEntry | null
  kept: KeptCase | null
  usedAt: number
}

export interface CatalogNeeds extends DerivedNeeds {
  /** Where resting cases are; none rests without. */
  shelf?: Pick<KeptReader, 'entry' | 'json' | 'row' | 'isSound'> & Partial<Pick<KeptCases, 'drop'>>
  /** Called before a case that is kept changes. */
  onTaken?(id: string, kept: KeptCase): void
  /** Called when a case has changed or is gone, so that it is to be kept anew or no more. */
  onDirty?(id: string): void
  /** What stood for these is damaged: they are unknown until their files are read. */
  onLost?(lost: ReadonlyMap<string, KeptCase>): void
}

export function createCatalog(needs: CatalogNeeds): Catalog {
  const { isHeld, pins, shelf, onTaken, onDirty, onLost } = needs
  const slots = new Map<string, Slot>()
  const awake = new Set<string>()
  const families = createFamilies()
  const changes = createRecentChanges()

  function entry(id: string): CaseEntry | undefined {
    const slot = slots.get(id)
    if (!slot) return undefined
    slot.usedAt = performance.now()
    if (slot.entry) return slot.entry
    slot.entry = unlessDamaged(() => shelf!.entry(slot.kept!))
    awake.add(id)
    return slot.entry
  }

  const derived = createDerivedValues({
    ...{ isHeld, pins, entry },
    resting(id) {
      const slot = slots.get(id)
      return slot && !slot.entry ? slot.kept : null
    },
    shelf: {
      json: (kept) => unlessDamaged(() => shelf!.json(kept)),
      row: (kept) => unlessDamaged(() => shelf!.row(kept)),
    },
  })
  const { folder, digest, forget } = derived

  /** Where one record is damaged, more are: all are looked through, and whoever asks again is answered. */
  function unlessDamaged<T>(read: () => T): T {
    try {
      return read()
    } catch (error) {
      if (error instanceof KeptDamage) loseDamaged()
      throw error
    }
  }

  function loseDamaged(): void {
    const lost = new Map<string, KeptCase>()
    for (const [id, slot] of slots) {
      if (!slot.kept || shelf!.isSound(slot.kept)) continue
      lost.set(id, slot.kept)
      shelf!.drop?.(id)
      if (slot.entry) onDirty?.(id)
      else slots.delete(id)
      slot.kept = null
      forget(id)
    }
    changes.addUnknown()
    if (lost.size > 0) onLost?.(lost)
  }

  function take(id: string): void {
    const kept = slots.get(id)?.kept
    if (!kept) return
    try {
      onTaken?.(id, kept)
    } catch (error) {
      if (!(error instanceof KeptDamage)) throw error
      loseDamaged()
    }
  }

  function touch(id: string): void {
    if (entry(id)) {
      take(id)
      slots.get(id)!.kept = null
      onDirty?.(id)
    }
    forget(id)
    changes.add(id)
  }

  function put(of: CaseEntry): void {
    const { id } = of
    take(id)
    slots.set(id, { entry: of, kept: null, usedAt: performance.now() })
    awake.add(id)
    families.put(id, of.file.value.parent)
    forget(id)
    changes.add(id)
    onDirty?.(id)
  }

  function lay(id: string, kept: KeptCase, json?: string): void {
    slots.set(id, { entry: null, kept, usedAt: 0 })
    families.put(id, kept.parent)
    changes.add(id)
    if (json !== undefined) derived.hold(id, json)
  }

  function remove(id: string): CaseEntry | undefined {
    const of = entry(id)
    if (!of) return undefined
    take(id)
    slots.delete(id)
    awake.delete(id)
    families.put(id, null)
    forget(id)
    changes.add(id)
    onDirty?.(id)
    return of
  }

  function rest(since: number): number {
    const before = awake.size
    for (const id of awake) if (slots.get(id)!.usedAt <= since) restOne(id)
    return before - awake.size
  }

  function restOne(id: string): void {
    const slot = slots.get(id)
    if (!slot?.kept) return
    slot.entry = null
    awake.delete(id)
    derived.rest(id, slot.kept)
  }

  return {
    ...{ entry, put, remove, folder, digest, touch, lay, rest, restOne },
    has: (id) => slots.has(id),
    known(id) {
      const slot = slots.get(id)
      return slot?.entry ?? slot?.kept ?? undefined
    },
    kept: (id) => slots.get(id)?.kept ?? null,
    ids: () => [...slots.keys()],
    size: () => slots.size,
    letGo: derived.letGo,
    children: families.children,
    shelve(id, kept) {
      const slot = slots.get(id)
      if (slot) slot.kept = kept
    },
    version: changes.version,
    changesSince: changes.since,
  }
}
