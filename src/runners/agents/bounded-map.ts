import { beginningOf } from './agent-text.ts'

/** A map with a limited number of entries, for data that an agent may send endlessly. */
export interface BoundedMap<Value> {
  get(key: string): Value | undefined
  set(key: string, value: Value): void
  has(key: string): boolean
  delete(key: string): void
  entries(): [key: string, value: Value][]
}

const MOST = 500
const MAX_KEY = 200

/** Keeps the `most` entries that were added last. Keys are cut to a fixed length. */
export function createBoundedMap<Value>(most = MOST): BoundedMap<Value> {
  const map = new Map<string, Value>()
  const short = (key: string) => (key.length > MAX_KEY ? beginningOf(key, MAX_KEY) : key)
  return {
    get: (key) => map.get(short(key)),
    set(key, value) {
      map.set(short(key), value)
      const [oldest] = map.keys()
      if (map.size > most && oldest !== undefined) map.delete(oldest)
    },
    has: (key) => map.has(short(key)),
    delete(key) {
      map.delete(short(key))
    },
    entries: () => [...map],
  }
}
