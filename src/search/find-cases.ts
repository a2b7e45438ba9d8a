/** Finds the cases that match a query and ranks them. FTS5 scores them; cases with more of the words come first. */

import type { SearchTables } from '../state/search-tables.ts'
import { all, exactMatches, nearMatches, phraseMatches, type TermMatches } from './expressions.ts'
import type { SearchQuery } from './query.ts'
import { compareCases } from './ranking.ts'

/** If fewer cases match exactly, others are added. */
const ENOUGH = 10

export interface FoundCase {
  number: number
  score: number
  /** Words of the query that the case does not have. */
  missing: string[]
  /** The matches of the words that the case has. */
  matches: TermMatches[]
}

export interface FoundCases {
  total: number
  /** The best first. */
  best: FoundCase[]
}

export interface FinderDeps {
  tables: Pick<SearchTables, 'rank' | 'best' | 'matches' | 'fitting'>
  /** All cases have a number below this. */
  size(): number
}

/**
 * Returns first the cases with all words as typed. If there are few, it adds cases where they begin a longer word, or
 * where some are missing; these rank higher the fewer words are missing and the more match as typed.
 */
export function findCases(deps: FinderDeps, query: SearchQuery, limit: number): FoundCases {
  const { tables } = deps
  const { terms, phrases, filters } = query
  if (terms.length === 0 && phrases.length === 0) {
    const found = tables.fitting(filters)
    const best = found
      .slice(0, limit)
      .map((number) => ({ number, score: 0, missing: [], matches: [] }))
    return { total: found.length, best }
  }
  const musts = phrases.map((phrase) => phraseMatches(phrase).expression)
  const exact = terms.map(exactMatches)
  const whole = tables.rank(
    all([...musts, ...exact.map(({ expression }) => expression)]),
    limit,
    filters,
  )
  if (whole.total >= ENOUGH || terms.length === 0) {
    const best = whole.best.map(([number, score]) => ({
      number,
      score,
      missing: [],
      matches: exact,
    }))
    return { total: whole.total, best }
  }

  const words = terms.map((each, index) => {
    const typed = tables.matches(exact[index]!.expression)
    const near = nearMatches(each)
    return { each, exact: exact[index]!, near, typed, cases: tables.matches(near.expression) }
  })
  const must = musts.length > 0 ? tables.matches(all(musts)) : null
  const fitting = Object.keys(filters).length > 0 ? tables.fitting(filters) : null
  const ranking = compareCases(words, { size: deps.size(), must, fitting })
  const best: FoundCase[] = []
  while (best.length < limit) {
    const next = ranking.next()
    if (next === null) break
    // score this case together with all cases that have the same words
    const own = words.flatMap(({ exact, near }, index) => {
      const has = ranking.has(next.number, index)
      return has === null ? [] : has === 'typed' ? exact.expression : near.expression
    })
    const isMissing = words.map((_, index) => ranking.has(next.number, index) === null)
    const missing = words.filter((_, index) => isMissing[index]).map(({ each }) => each.text)
    const matches = words.filter((_, index) => !isMissing[index]).map(({ near }) => near)
    const scored = tables.best(all([...musts, ...own]), limit + ranking.returned(), filters)
    for (const [number, score] of [...scored, [next.number, 0] as const]) {
      if (ranking.remove(number, next.score)) best.push({ number, score, missing, matches })
    }
  }
  return { total: ranking.total, best: best.slice(0, limit) }
}
