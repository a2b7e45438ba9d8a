import { createBoundedMap } from '../agents/bounded-map.ts'

/** At the end an agent tells of all again. */
const MAX_KNOWN = 10_000

export interface ToldDenial {
  id: string | null
  tool: string
  when: 'at once' | 'at the end'
}

/** Tells a denial from one that is told again: by its id, else by how many there were of its tool. */
export interface DenialNews {
  isNew(denial: ToldDenial): boolean
  isKnown(id: string): boolean
}

export function createDenialNews(): DenialNews {
  const known = createBoundedMap<true>(MAX_KNOWN)
  /** Told once, and not yet again: how many by their tool's name. */
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
