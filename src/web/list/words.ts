import type { TriageRow } from '../../model/triage-row.ts'

/** What the cases have of these, the most frequent first. */
export interface Words {
  types: string[]
  tags: string[]
  outcomes: string[]
}

const MAX_WORDS = 200
const words = new WeakMap<readonly TriageRow[], Words>()

/** Made once for each state of the cases. */
export function wordsOf(rows: readonly TriageRow[]): Words {
  const known = words.get(rows)
  if (known) return known
  const [types, tags, outcomes] = [
    new Map<string, number>(),
    new Map<string, number>(),
    new Map<string, number>(),
  ]
  for (const row of rows) {
    count(types, row.type)
    for (const tag of row.tags) count(tags, tag)
    if (row.outcome !== null) count(outcomes, row.outcome)
  }
  const made = { types: frequent(types), tags: frequent(tags), outcomes: frequent(outcomes) }
  words.set(rows, made)
  return made
}

function count(counts: Map<string, number>, word: string): void {
  counts.set(word, (counts.get(word) ?? 0) + 1)
}

function frequent(counts: ReadonlyMap<string, number>): string[] {
  return [...counts]
    .sort(([a, countA], [b, countB]) => countB - countA || (a < b ? -1 : 1))
    .slice(0, MAX_WORDS)
    .map(([word]) => word)
}
