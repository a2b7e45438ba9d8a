/** Full-text search behind `GET /search`: brings the index up to date, finds cases, then their matching lines. */

import { relative } from 'node:path'
import { yieldIfBusy } from '../files/yielding.ts'
import type { Database } from '../state/database.ts'
import { createSearchTables } from '../state/search-tables.ts'
import type { Catalog } from '../workspace/catalog.ts'
import type { Layout } from '../workspace/layout.ts'
import { readSearched } from './case-files.ts'
import { type FoundCase, findCases } from './find-cases.ts'
import { createIndexUpdates } from './index-updates.ts'
import { byMatch, type LineQuery, type MatchingLine, matchingLines } from './matching-lines.ts'
import type { CaseSummary, SearchQuery } from './query.ts'
import { fieldOf, searchedLines } from './searched-lines.ts'
import { type SimilarNumber, similarCases } from './similar-cases.ts'
import { termsIn } from './words.ts'

export interface LineOfFile extends MatchingLine {
  /** Relative to the workspace. */
  file: string
}

export interface Hit {
  id: string
  score: number
  /** Words of the query that the case does not have. */
  missing: string[]
  lines: LineOfFile[]
}

export interface SearchResult {
  total: number
  hits: Hit[]
}

export interface SimilarCase extends Omit<SimilarNumber, 'number'> {
  id: string
}

/** Full-text search over cases, sessions, memory files and proof. Results reflect the files at the time of the call. */
export interface Search {
  /** Starts to bring the index up to date in the background. */
  begin(): void
  find(query: SearchQuery, limit: number): Promise<SearchResult>
  /** Resolved cases that resemble this one, the most similar first. */
  similar(id: string, limit: number): Promise<SimilarCase[]>
  /** Whether the index is nearly up to date, so that a search is fast. */
  isReady(): boolean
  /** Call it when files of a case have changed or the case was deleted. A deleted case leaves the index at once. */
  change(id: string): void
  close(): Promise<void>
}

export interface SearchDeps {
  layout: Layout
  database: Database
  catalog: Pick<Catalog, 'ids' | 'has'>
  /** Returns the summary of a case; undefined if there is no such case. */
  summaryOf(id: string): CaseSummary | undefined
  log(line: string): void
}

const MAX_LINES = 5
/** Pasted text is searched for in this many cases. */
const CASES_FOR_PASTED = 20

export function createSearch({ layout, database, catalog, summaryOf, log }: SearchDeps): Search {
  const tables = createSearchTables(database)
  const folder = layout.caseFolder
  const shown = relative(layout.root, layout.cases)
  const index = createIndexUpdates({
    tables,
    ids: catalog.ids,
    summaryOf,
    folder,
    log,
  })

  /** Returns the matching lines of a case from its current files. */
  function linesIn(number: number, id: string, query: LineQuery) {
    const names = tables.indexed(number)?.names.split('\n') ?? []
    return names
      .flatMap((name) => {
        const text = readSearched(folder(id), name) ?? ''
        const lines = matchingLines(searchedLines(fieldOf(name), text), query)
        return lines.map((line) => ({ file: `${shown}/${id}/${name}`, ...line }))
      })
      .sort(byMatch)
      .slice(0, MAX_LINES)
  }

  async function withLines(best: readonly FoundCase[], query: SearchQuery) {
    const texts = query.pasted === '' ? query.phrases : [...query.phrases, query.pasted]
    const inPhrases = query.phrases.flatMap(termsIn)
    const found = []
    for (const { number, score, missing, matches } of best) {
      const id = index.id(number)
      if (id === undefined) continue // deleted since
      const lines = linesIn(number, id, {
        words: new Set([...matches.flatMap(({ words }) => words), ...inPhrases]),
        prefixes: matches.flatMap(({ prefixes }) => prefixes),
        texts,
        limit: MAX_LINES,
      })
      found.push({ id, score: Number(score.toPrecision(4)), missing, lines })
      await yieldIfBusy()
    }
    return found
  }

  return {
    begin: index.begin,
    async find(query, limit) {
      await index.upToDate()
      const hasWords = query.terms.length + query.phrases.length > 0
      const deps = { tables, size: index.size }
      const most = query.pasted === '' ? limit : Math.max(limit, CASES_FOR_PASTED)
      const cases = findCases(deps, query, most)
      const found = hasWords
        ? await withLines(cases.best, query)
        : cases.best.map(({ number, score, missing }) => ({
            id: index.id(number)!,
            score,
            missing,
            lines: [],
          }))
      const quotes = (lines: { quotes: number }[]) => lines[0]?.quotes ?? 0
      if (query.pasted !== '') found.sort((a, b) => quotes(b.lines) - quotes(a.lines))
      const hits = found.slice(0, limit).map(({ lines, ...hit }) => {
        // for a query of phrases alone, lines with only some of their words are left out
        const whole = query.terms.length === 0 ? lines.filter((line) => line.quotes > 0) : []
        const best = whole.length > 0 ? whole : lines
        return { ...hit, lines: best.map(({ count: _, quotes: __, ...line }) => line) }
      })
      return { total: cases.total, hits }
    },
    async similar(id, limit) {
      await index.upToDate()
      const number = index.number(id)
      const summary = summaryOf(id)
      if (number === undefined || !summary) return []
      const own = { number, title: summary.title, folder: folder(id) }
      const similar = similarCases(tables, index.size(), own, limit)
      return similar.map(({ number, ...each }) => ({ id: index.id(number)!, ...each }))
    },
    isReady: index.isReady,
    change(id) {
      if (catalog.has(id)) index.change(id)
      else index.remove(id)
    },
    close: index.close,
  }
}
