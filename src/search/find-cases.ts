import type { RankedCases, SearchTables } from '../state/search-tables.ts'
import { all, exactMeaning, type Meaning, nearMeaning, phraseMeaning } from './expressions.ts'
import { type CaseSummary, matchesFilters, type SearchQuery } from './query.ts'
import { compareCases } from './standings.ts'
import type { Vocabulary } from './typos.ts'

/** If fewer cases match, those that nearly match are found too. */
const ENOUGH = 10

export interface FoundCase {
  number: number
  score: number
  /** Words of the query that the case does not have. */
  missing: string[]
}

export interface FoundCases {
  total: number
  /** The best first. */
  best: FoundCase[]
  /** What the words of the query stood for. */
  meanings: Meaning[]
}

export interface FinderDeps {
  tables: Pick<SearchTables, 'rank' | 'matches'>
  vocabulary: Vocabulary
  /** All cases have a number below this. */
  size(): number
  numbers(): Iterable<number>
  facts(number: number): CaseSummary | undefined
}

/**
 * The cases that a query means. First those with all of its words as they were typed; if these are few, those with words
 * near them, the fewer are missing and the more are as typed the earlier.
 */
export async function findCases(
  deps: FinderDeps,
  query: SearchQuery,
  limit: number,
): Promise<FoundCases> {
  const { tables, vocabulary } = deps
  const { wanted, phrases, filters } = query
  const hasFilters = Object.keys(filters).length > 0
  const known = new Map<number, boolean>()
  function fits(number: number): boolean {
    if (!hasFilters) return true
    const fit = known.get(number) ?? matchesFilters(deps.facts(number), filters)
    known.set(number, fit)
    return fit
  }
  if (wanted.length === 0 && phrases.length === 0) return newest(deps, fits, limit)

  /** The best that match and fit, and how many do. */
  function rank(expression: string, most: number): RankedCases {
    const ranked = tables.rank(expression, hasFilters ? 'all' : most)
    if (!hasFilters) return ranked
    const best = ranked.best.filter(([number]) => fits(number))
    return { total: best.length, best: best.slice(0, most) }
  }

  const musts = phrases.map((phrase) => phraseMeaning(phrase).expression)
  const exact = wanted.map(exactMeaning)
  const whole = rank(all([...musts, ...exact.map(({ expression }) => expression)]), limit)
  if (whole.total >= ENOUGH || wanted.length === 0) {
    const best = whole.best.map(([number, score]) => ({ number, score, missing: [] }))
    return { total: whole.total, best, meanings: exact }
  }

  await vocabulary.load()
  const words = wanted.map((each, index) => {
    const typed = tables.matches(exact[index]!.expression)
    // a word that many cases have is taken as it is: what is near it is in very many
    const near = nearMeaning(each, typed.length < ENOUGH ? vocabulary.near : () => [])
    return { each, exact: exact[index]!, near, typed, cases: tables.matches(near.expression) }
  })
  const must = musts.length > 0 ? tables.matches(all(musts)) : null
  const standings = compareCases(words, { size: deps.size(), must, fits })
  const best: FoundCase[] = []
  while (best.length < limit) {
    const next = standings.next()
    if (next === null) break
    // its words rank it, and all cases that have just the same ones
    const own = words.flatMap(({ exact, near }, index) => {
      const has = standings.has(next.number, index)
      return has === null ? [] : has === 'typed' ? exact.expression : near.expression
    })
    const missing = words
      .filter((_, index) => standings.has(next.number, index) === null)
      .map(({ each }) => each.whole)
    const ranked = rank(all([...musts, ...own]), limit + standings.taken())
    for (const [number, score] of [...ranked.best, [next.number, 0] as const]) {
      if (standings.take(number, next.score)) best.push({ number, score, missing })
    }
  }
  const meanings = words.map(({ near }) => near)
  return { total: standings.total, best: best.slice(0, limit), meanings }
}

function newest({ numbers, facts }: FinderDeps, fits: (number: number) => boolean, limit: number) {
  const time = (number: number) => facts(number)?.updated_at ?? ''
  const found = [...numbers()]
    .filter(fits)
    .map((number) => ({ number, time: time(number) }))
    .sort((a, b) => (a.time < b.time ? 1 : a.time > b.time ? -1 : a.number - b.number))
  const best = found.slice(0, limit).map(({ number }) => ({ number, score: 0, missing: [] }))
  return { total: found.length, best, meanings: [] }
}
