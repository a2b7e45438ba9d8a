import { caseOf, type Scores, type SearchTables } from '../state/search-tables.ts'
import type { SearchIndex } from './search-index.ts'

type Scored = [number: number, score: number]

/** What people wrote about a case; the other columns have what its sessions and tests put out. */
const WRITTEN = '{tags description notes}'

/**
 * Ranks cases by the BM25 scores of their files: those with a match in the title first, then those with one in what
 * people wrote, then the others, and equal ones by id. All numbers of cases are below `size`.
 */
export function createRanking(
  tables: Pick<SearchTables, 'scores' | 'titleScores'>,
  expression: string,
  { size, id }: Pick<SearchIndex, 'size' | 'id'>,
): (group: readonly number[], limit: number) => Scored[] {
  const places = [
    () => tables.titleScores(expression),
    () => tables.scores(`${WRITTEN} : (${expression})`),
    () => tables.scores(expression),
  ]
  const known: Float32Array[] = []

  return (group, limit) => {
    const found: Scored[] = []
    let others = group
    for (const [at, scores] of places.entries()) {
      if (others.length === 0 || found.length === limit) break // most matches need no score
      known[at] ??= sums(scores(), size())
      found.push(...best(others, known[at], limit - found.length, id))
      const ranked = new Set(found.map(([number]) => number))
      others = others.filter((number) => !ranked.has(number))
    }
    return found
  }
}

/** The sum of the scores of its files, by the number of the case; rounded, as it depends on their order. */
function sums({ rows, scores }: Scores, size: number): Float32Array {
  const sums = new Float64Array(size)
  for (const [at, row] of rows.entries()) sums[caseOf(row)]! += scores[at]!
  return Float32Array.from(sums)
}

function best(
  group: readonly number[],
  sums: Float32Array,
  limit: number,
  id: SearchIndex['id'],
): Scored[] {
  const scored = group.filter((number) => sums[number]! > 0)
  // the numeric sort of a typed array is faster than one with a comparator
  const least =
    Float32Array.from(scored, (number) => sums[number]!)
      .sort()
      .at(-limit) ?? 0
  return scored
    .filter((number) => sums[number]! >= least)
    .map((number): Scored => [number, sums[number]!])
    .sort((a, b) => b[1] - a[1] || compare(id(a[0]) ?? '', id(b[0]) ?? ''))
    .slice(0, limit)
}

export function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
