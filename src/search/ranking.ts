import { caseOf, type Scores, type SearchTables } from '../state/search-tables.ts'

type Scored = [number: number, score: number]

/**
 * Ranks cases by the BM25 scores of their files, those with a match in the title first. All numbers of cases are
 * below `size`.
 */
export function createRanking(
  tables: Pick<SearchTables, 'scores' | 'titleScores'>,
  expression: string,
  size: number,
): (group: readonly number[], limit: number) => Scored[] {
  let inTitles: Float64Array | undefined
  let everywhere: Float64Array | undefined

  return (group, limit) => {
    if (group.length === 0) return []
    inTitles ??= sums(tables.titleScores(expression), size)
    const titled = best(group, inTitles, limit)
    if (titled.length === limit) return titled // most matches need no score
    everywhere ??= sums(tables.scores(expression), size)
    const known = new Set(titled.map(([number]) => number))
    const others = group.filter((number) => !known.has(number))
    return [...titled, ...best(others, everywhere, limit - titled.length)]
  }
}

/** The sum of the scores of its files, by the number of the case. */
function sums({ rows, scores }: Scores, size: number): Float64Array {
  const sums = new Float64Array(size)
  for (const [at, row] of rows.entries()) sums[caseOf(row)]! += scores[at]!
  return sums
}

function best(group: readonly number[], sums: Float64Array, limit: number): Scored[] {
  const scored = group.filter((number) => sums[number]! > 0)
  // the numeric sort of a typed array is faster than one with a comparator
  const least =
    Float64Array.from(scored, (number) => sums[number]!)
      .sort()
      .at(-limit) ?? 0
  return scored
    .filter((number) => sums[number]! >= least)
    .map((number): Scored => [number, sums[number]!])
    .sort((a, b) => b[1] - a[1] || a[0] - b[0])
    .slice(0, limit)
}
