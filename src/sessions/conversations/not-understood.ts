import type { NotUnderstood } from '../../model/not-understood.ts'

/** What hooks sent that the service could not read, since it started. */
export interface NotUnderstoodHooks {
  add(call: Omit<NotUnderstood, 'count' | 'first_at' | 'last_at'>): void
  /** Newest first. */
  list(): NotUnderstood[]
}

/** Different ones; the one that was not heard for longest goes first. */
const MAX_KINDS = 20

export function createNotUnderstoodHooks(now: () => string): NotUnderstoodHooks {
  const kinds = new Map<string, NotUnderstood>()
  return {
    add(call) {
      const { line, sender, event, missing } = call
      const key = JSON.stringify([line, sender, event, missing])
      const known = kinds.get(key)
      const at = now()
      // at the end of the map, which is in the order of the last call then
      kinds.delete(key)
      kinds.set(key, {
        ...call,
        count: (known?.count ?? 0) + 1,
        first_at: known?.first_at ?? at,
        last_at: at,
      })
      if (kinds.size > MAX_KINDS) kinds.delete(kinds.keys().next().value!)
    },
    list: () => [...kinds.values()].reverse(),
  }
}
