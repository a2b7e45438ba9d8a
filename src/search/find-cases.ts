import { readSearched } from '../workspace/search-files.ts'
import type { Found } from './case-index.ts'
import type { CaseSummary } from './case-summary.ts'
import { byMatch, matchingLines } from './matching-lines.ts'
import { createPhraseTest } from './phrases.ts'
import type { SearchQuery } from './query.ts'
import type { FindAnswer } from './search-messages.ts'
import type { SearchedCases } from './searched-cases.ts'
import { placeOf, searchedLines } from './searched-lines.ts'

const MOST_LINES = 5
/** Of so many the lines are looked at for a text that was pasted. */
const LOOKED_AT = 20
/** With fewer cases than this, those that nearly match are shown too. */
const ENOUGH = 10

/** The cases that a query means, and the lines of their files, as these are now, in which its words stand. */
export function findCases(
  cases: SearchedCases,
  { wanted, phrases, pasted, filters }: SearchQuery,
  { limit, shown }: { limit: number; shown: string },
): FindAnswer {
  const hasPhrases = createPhraseTest(phrases)
  const isSaid = (id: string) => phrases.length === 0 || hasPhrases(cases.text(id))
  const fits = (id: string) => fitsFilters(cases.facts(id), filters) && isSaid(id)
  if (wanted.length === 0) {
    const all = [...cases.ids()].filter(fits).sort(byUpdate(cases))
    const hits = all.slice(0, limit).map((id) => ({ id, score: 0, missing: [], lines: [] }))
    return { total: all.length, hits }
  }
  const texts = pasted === '' ? phrases : [...phrases, pasted]
  const looked = pasted === '' ? limit : Math.max(limit, LOOKED_AT)
  const { total, best } = cases.index.find(wanted, { fits, limit: looked, enough: ENOUGH })
  const found = best.map((each) => ({ ...each, lines: linesOf(each) }))
  const saidIn = ({ lines }: (typeof found)[number]) => lines[0]?.said ?? 0
  const first = pasted === '' ? found : found.sort((a, b) => saidIn(b) - saidIn(a))
  const hits = first.slice(0, limit).map(({ id, score, missing, lines }) => ({
    ...{ id, score: Math.round(score * 1000) / 1000, missing },
    lines: lines.map(({ count: _, said: __, ...line }) => line),
  }))
  return { total, hits }

  function linesOf({ id, terms, places }: Found) {
    const isIn = (name: string) => {
      const place = placeOf(name)
      return places.has(place) || (place === 'case' && (places.has('title') || places.has('tags')))
    }
    const lines = cases
      .files(id)
      .filter(isIn)
      .flatMap((name) => {
        const text = readSearched(cases.folder(id), name) ?? ''
        const lines = searchedLines(placeOf(name), text)
        const matching = matchingLines(lines, { terms, texts, most: MOST_LINES })
        return matching.map((line) => ({ file: `${shown}/${id}/${name}`, ...line }))
      })
      .sort(byMatch)
      .slice(0, MOST_LINES)
    const said = lines.filter((line) => line.said > 0)
    // of a phrase alone, lines with some of its words say nothing
    return said.length > 0 && wanted.every(({ asTyped }) => asTyped) ? said : lines
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
