import { createBoundedMap } from '../agents/bounded-map.ts'

/** An agent may repeat all its denials at the end. */
const MAX_KNOWN = 10_000

export interface ReportedDenial {
  id: string | null
  tool: string
  when: 'at once' | 'at the end'
}

/** Recognizes a denial that is reported twice: by its id, else by the number of denials of its tool. */
export interface DenialDeduplicator {
  isNew(denial: ReportedDenial): boolean
  isKnown(id: string): boolean
}

export function createDenialDeduplicator(): DenialDeduplicator {
  const known = createBoundedMap<true>(MAX_KNOWN)
  /** Denials reported once so far, counted by tool: with an id and without. */
  const waiting = { named: createBoundedMap<number>(), nameless: createBoundedMap<number>() }

  function takes(kind: keyof typeof waiting, tool: string): boolean {
    const count = waiting[kind].get(tool) ?? 0
    if (count > 0) waiting[kind].set(tool, count - 1)
    return count > 0
  }

  function waits(kind: keyof typeof waiting, tool: string): true {
    waiting[kind].set(tool, (waiting[kind].get(tool) ?? 0) + 1)
    return true
  }

  return {
    isKnown: (id) => known.has(id),
    isNew({ id, tool, when }) {
      if (id === null) {
        if (takes('named', tool)) return false
        return when === 'at the end' && takes('nameless', tool) ? false : waits('nameless', tool)
      }
      if (known.has(id)) return false
      known.set(id, true)
      return takes('nameless', tool) ? false : waits('named', tool)
    },
  }
}
