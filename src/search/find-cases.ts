import { readSearched } from '../workspace/search-files.ts'
import type { Found } from './case-index.ts'
import type { CaseSummary } from './case-summary.ts'
import { matchingLines } from './matching-lines.ts'
import type { SearchQuery } from './query.ts'
import type { FindAnswer, LineOfFile } from './search-messages.ts'
import type { SearchedCases } from './searched-cases.ts'
import { placeOf, searchedLines } from './searched-lines.ts'

const MOST_LINES = 5
/** With fewer cases than this, those that nearly match are shown too. */
const ENOUGH = 10

/** The cases that a query means, and the lines of their files, as these are now, in which its words stand. */
export function findCases(
  cases: SearchedCases,
  { wanted, filters }: SearchQuery,
  { limit, shown }: { limit: number; shown: string },
): FindAnswer {
  const fits = (id: string) => fitsFilters(cases.facts(id), filters)
  if (wanted.length === 0) {
    const all = [...cases.ids()].filter(fits).sort(byUpdate(cases))
    const hits = all.slice(0, limit).map((id) => ({ id, score: 0, missing: [], lines: [] }))
    return { total: all.length, hits }
  }
  const found = cases.index.find(wanted, fits, ENOUGH)
  const hits = found.slice(0, limit).map((each) => {
    const score = Math.round(each.score * 1000) / 1000
    return { id: each.id, score, missing: each.missing(), lines: linesOf(each) }
  })
  return { total: found.length, hits }

  function linesOf(found: Found): LineOfFile[] {
    const { id } = found
    const [terms, places] = [new Set(found.terms()), found.places()]
    const isIn = (name: string) => {
      const place = placeOf(name)
      return places.has(place) || (place === 'case' && (places.has('title') || places.has('tags')))
    }
    return cases
      .files(id)
      .filter(isIn)
      .flatMap((name) => {
        const text = readSearched(cases.folder(id), name) ?? ''
        const lines = matchingLines(searchedLines(placeOf(name), text), terms, MOST_LINES)
        return lines.map((line) => ({ file: `${shown}/${id}/${name}`, ...line }))
      })
      .sort((a, b) => b.count - a.count)
      .slice(0, MOST_LINES)
      .map(({ count: _, ...line }) => line)
  }
}

function fitsFilters(facts: CaseSummary | undefined, filters: SearchQuery['filters']): boolean {
  if (!facts) return false
  const { state, type, tag, outcome } = filters
  const has = (wanted: string[] | undefined, value: string) => !wanted || wanted.includes(value)
  return (
    has(state, facts.state) &&
    has(type, facts.type) &&
    has(outcome, facts.outcome ?? '') &&
    (!tag || facts.tags.some((each) => tag.includes(each)))
  )
}

function byUpdate(cases: SearchedCases) {
  const time = (id: string) => cases.facts(id)?.updated_at ?? ''
  return (a: string, b: string) => (time(a) < time(b) ? 1 : time(a) > time(b) ? -1 : a < b ? -1 : 1)
}
