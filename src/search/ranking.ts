import { caseOf, type Scores, type SearchTables } from '../state/search-tables.ts'
import type { SearchIndex } from './search-index.ts'

type Scored = [number: number, score: number]

/**
 * Ranks cases by the BM25 scores of their files, those with a match in the title first, and equal ones by id. All numbers
 * of cases are below `size`.
 */
export function createRanking(
  tables: Pick<SearchTables, 'scores' | 'titleScores'>,
  expression: string,
  { size, id }: Pick<SearchIndex, 'size' | 'id'>,
): (group: readonly number[], limit: number) => Scored[] {
  let inTitles: Float32Array | undefined
  let everywhere: Float32Array | undefined

  return (group, limit) => {
    if (group.length === 0) return []
    inTitles ??= sums(tables.titleScores(expression), size())
    const titled = best(group, inTitles, limit, id)
    if (titled.length === limit) return titled // most matches need no score
    everywhere ??= sums(tables.scores(expression), size())
    const known = new Set(titled.map(([number]) => number))
    const others = group.filter((number) => !known.has(number))
    return [...titled, ...best(others, everywhere, limit - titled.length, id)]
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
