import { beginningOf, clauseOf } from './agent-text.ts'
import { createBoundedMap } from './bounded-map.ts'

const MAX_NAMES = 8
const MAX_NAME = 100

/** The actions that an agent was denied. */
export interface Denials {
  add(action: string): void
  /**
   * The number and names of the actions, as a predicate for a sentence about the agent; null if there were none.
   */
  summary(): string | null
}

export function createDenials(): Denials {
  const counts = createBoundedMap<number>()
  let total = 0
  return {
    add(action) {
      total += 1
      const name = clauseOf(beginningOf(action, MAX_NAME)) || 'a tool'
      counts.set(name, (counts.get(name) ?? 0) + 1)
    },
    summary() {
      if (total === 0) return null
      const shown = counts.entries().slice(0, MAX_NAMES)
      const names = shown.map(([name, count]) => (count > 1 ? `${name} ${count} times` : name))
      const rest = total - shown.reduce((sum, [, count]) => sum + count, 0)
      const more = rest > 0 ? ` and ${rest} more` : ''
      const what = total === 1 ? 'one of its actions' : `${total} of its actions`
      return `was denied ${what}: ${names.join(', ')}${more}`
    },
  }
}
