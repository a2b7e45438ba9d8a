/** Which cases a query finds and in which order: FTS5 ranks them, and cases with more of the words come first. */

import type { SearchTables } from '../state/search-tables.ts'
import { all, exactMeaning, type Meaning, nearMeaning, phraseMeaning } from './expressions.ts'
import type { SearchQuery } from './query.ts'
import { compareCases } from './ranking.ts'
import type { Vocabulary } from './typos.ts'

/** If fewer cases match, those that nearly match are found too. */
const ENOUGH = 10

export interface FoundCase {
  number: number
  score: number
  /** Words of the query that the case does not have. */
  missing: string[]
  /** What those stand for that it has. */
  meanings: Meaning[]
}

export interface FoundCases {
  total: number
  /** The best first. */
  best: FoundCase[]
}

export interface FinderDeps {
  tables: Pick<SearchTables, 'rank' | 'best' | 'matches' | 'fitting'>
  vocabulary: Vocabulary
  /** All cases have a number below this. */
  size(): number
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
  if (wanted.length === 0 && phrases.length === 0) {
    const found = tables.fitting(filters)
    const best = found
      .slice(0, limit)
      .map((number) => ({ number, score: 0, missing: [], meanings: [] }))
    return { total: found.length, best }
  }
  const musts = phrases.map((phrase) => phraseMeaning(phrase).expression)
  const exact = wanted.map(exactMeaning)
  const whole = tables.rank(
    all([...musts, ...exact.map(({ expression }) => expression)]),
    limit,
    filters,
  )
  if (whole.total >= ENOUGH || wanted.length === 0) {
    const best = whole.best.map(([number, score]) => ({
      number,
      score,
      missing: [],
      meanings: exact,
    }))
    return { total: whole.total, best }
  }

  await vocabulary.load()
  const words = wanted.map((each, index) => {
    const typed = tables.matches(exact[index]!.expression)
    // a word that many cases have is taken as it is: what is near it is in very many
    const near = nearMeaning(each, typed.length < ENOUGH ? vocabulary.near : () => [])
    return { each, exact: exact[index]!, near, typed, cases: tables.matches(near.expression) }
  })
  const must = musts.length > 0 ? tables.matches(all(musts)) : null
  const fitting = Object.keys(filters).length > 0 ? tables.fitting(filters) : null
  const ranking = compareCases(words, { size: deps.size(), must, fitting })
  const best: FoundCase[] = []
  while (best.length < limit) {
    const next = ranking.next()
    if (next === null) break
    // its words rank it, and all cases that have just the same ones
    const own = words.flatMap(({ exact, near }, index) => {
      const has = ranking.has(next.number, index)
      return has === null ? [] : has === 'typed' ? exact.expression : near.expression
    })
    const isMissing = words.map((_, index) => ranking.has(next.number, index) === null)
    const missing = words.filter((_, index) => isMissing[index]).map(({ each }) => each.whole)
    const meanings = words.filter((_, index) => !isMissing[index]).map(({ near }) => near)
    const ranked = tables.best(all([...musts, ...own]), limit + ranking.taken(), filters)
    for (const [number, score] of [...ranked, [next.number, 0] as const]) {
      if (ranking.take(number, next.score)) best.push({ number, score, missing, meanings })
    }
  }
  return { total: ranking.total, best: best.slice(0, limit) }
}
