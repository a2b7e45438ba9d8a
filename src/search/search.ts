/** Full-text search over cases, sessions, memory files and proof. */

import { join, relative } from 'node:path'
import { readNow } from '../files/read-now.ts'
import { decodeUtf8 } from '../files/safe-read.ts'
import { yieldIfBusy } from '../files/yielding.ts'
import type { TriageRow } from '../model/triage-row.ts'
import type { Database } from '../state/database.ts'
import { caseOf, createSearchTables, TEXT_COLUMNS } from '../state/search-tables.ts'
import type { Catalog } from '../workspace/index/catalog.ts'
import type { CaseLists } from '../workspace/index/lists.ts'
import type { Layout } from '../workspace/layout.ts'
import { foundLines, type MatchingLine } from './found-lines.ts'
import { columnOf } from './indexed-text.ts'
import { type Filters, phraseExpression, type SearchQuery, wordExpression } from './query.ts'
import { compare, createRanking } from './ranking.ts'
import { createSearchIndex, type SearchIndex } from './search-index.ts'
import { type SimilarCase, similarCases } from './similar-cases.ts'

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

/** Finds what the files contained when they were last read. */
export interface Search
  extends Pick<SearchIndex, 'begin' | 'sawText' | 'onCaseChange' | 'isReady' | 'close'> {
  /** The best cases with all words of the query; if there are none, those with most. */
  find(query: SearchQuery, limit: number): Promise<{ total: number; hits: Hit[] }>
  /** The ids of the cases with all words of the query. */
  matching(query: SearchQuery): Promise<string[]>
  /** Resolved cases that resemble this one, the most similar first. */
  similar(id: string, limit: number): Promise<SimilarCase[]>
}

export interface SearchDeps {
  layout: Layout
  database: Database
  catalog: Pick<Catalog, 'ids' | 'has' | 'entry'>
  lists: Pick<CaseLists, 'triage'>
  log(line: string): void
}

interface FoundLine extends MatchingLine {
  name: string
  weight: number
}

const MAX_LINES = 5
/** Lines are looked for in so many files of a case. */
const MAX_FILES = 3
/** Texts whose matches are marked at once, as this blocks. */
const TEXTS_AT_ONCE = 60
const NAMES_AT_ONCE = 5000
const MAX_READ_BYTES = 16 * 1024 * 1024

export function createSearch({ layout, database, catalog, lists, log }: SearchDeps): Search {
  const tables = createSearchTables(database)
  const shown = relative(layout.root, layout.cases)
  const index = createSearchIndex({ tables, catalog, read: readText, log })

  function readText(id: string, name: string): string | null {
    const folder = layout.caseFolder(id)
    const read = readNow(join(folder, name), MAX_READ_BYTES, folder)
    const text = read.ok ? decodeUtf8(read.bytes) : null
    return text?.ok ? text.text : null
  }

  /** The numbers of the cases that match: those with all words, those with one less, and so on. */
  function match({ words, phrases, filters }: SearchQuery) {
    const byWord = words.map((word) => tables.matches(wordExpression(word)))
    const byPhrase = phrases.map((phrase) => tables.matches(phraseExpression(phrase)))
    const wordCounts = countByCase(byWord, index.size())
    const phraseCounts = countByCase(byPhrase, index.size())
    const fitting = numbersFitting(filters)
    const groups = Array.from({ length: words.length + 1 }, (): number[] => [])
    for (const [number, count] of wordCounts.entries()) {
      const isMatch = phrases.length > 0 ? phraseCounts[number] === phrases.length : count > 0
      if (isMatch && fitting?.has(number) !== false) groups[words.length - count]!.push(number)
    }
    return { groups, byWord, byPhrase }
  }

  function cases(filters: Filters): TriageRow[] {
    return lists.triage(filters, null, null).map(({ row }) => row)
  }

  function numbersFitting(filters: Filters): Set<number> | null {
    if (Object.keys(filters).length === 0) return null
    return new Set(cases(filters).flatMap(({ id }) => index.number(id) ?? []))
  }

  /** In two groups: those that contain the pasted text, and the others. */
  function pastedFirst(numbers: number[], pasted: string): number[][] {
    if (pasted === '') return [numbers]
    const having = new Set(tables.matches(phraseExpression(pasted)).map(caseOf))
    return [true, false].map((is) => numbers.filter((number) => having.has(number) === is))
  }

  /** Of each case the rows that are in most lists; of equal ones what people wrote. */
  async function bestRows(lists: readonly (readonly number[])[]): Promise<number[]> {
    const counts = new Map<number, number>()
    for (const row of lists.flat()) counts.set(row, (counts.get(row) ?? 0) + 1)
    const rows = [...counts.keys()]
    const names = new Map<number, string>()
    for (let from = 0; from < rows.length; from += NAMES_AT_ONCE) {
      await yieldIfBusy()
      const some = tables.names(rows.slice(from, from + NAMES_AT_ONCE))
      for (const { row, name } of some) names.set(row, name)
    }
    const nameOf = (row: number) => names.get(row) ?? ''
    const chosen = new Map<number, number>()
    return rows
      .sort(
        (a, b) =>
          counts.get(b)! - counts.get(a)! ||
          placeOf(nameOf(a)) - placeOf(nameOf(b)) ||
          compare(nameOf(a), nameOf(b)),
      )
      .filter((row) => {
        const count = (chosen.get(caseOf(row)) ?? 0) + 1
        chosen.set(caseOf(row), count)
        return count <= MAX_FILES
      })
  }

  /** The best lines of these rows. Yields to requests, as marking what matches takes time in long texts. */
  async function linesOf(expression: string, rows: readonly number[]) {
    const found = new Map<number, FoundLine[]>()
    for (let from = 0; from < rows.length; from += TEXTS_AT_ONCE) {
      await yieldIfBusy()
      const texts = tables.marked(expression, rows.slice(from, from + TEXTS_AT_ONCE))
      for (const { row, name, text } of texts) {
        const number = caseOf(row)
        const lines = foundLines(text).map((line) => ({ name, ...line }))
        found.set(number, [...(found.get(number) ?? []), ...lines])
      }
    }
    return (number: number): LineOfFile[] =>
      (found.get(number) ?? [])
        .sort(
          (a, b) =>
            placeOf(a.name) - placeOf(b.name) ||
            b.weight - a.weight ||
            compare(a.name, b.name) ||
            a.line - b.line,
        )
        .slice(0, MAX_LINES)
        .map(({ name, line, text, marks }) => {
          const file = `${shown}/${index.id(number)}/${name}`
          return { file, line, text, marks }
        })
  }

  return {
    ...index,
    async find(query, limit) {
      await index.upToDate()
      const { words, phrases, pasted, filters } = query
      if (words.length + phrases.length === 0) {
        const found = cases(filters).sort((a, b) => compare(b.updated_at, a.updated_at))
        const hits = found.map(({ id }) => ({ id, score: 0, missing: [], lines: [] }))
        return { total: found.length, hits: hits.slice(0, limit) }
      }
      const { groups, byWord, byPhrase } = match(query)
      const [complete = []] = groups
      const isComplete = complete.length > 0
      const quoted = phrases.map(phraseExpression)
      if (pasted !== '') quoted.push(phraseExpression(pasted))
      const ranked = [...words.map(rankedExpression), ...quoted].join(' OR ')
      const rank = createRanking(tables, ranked, index)
      const best: ReturnType<typeof rank> = []
      // where a case has all words, those without some are left out
      for (const group of isComplete ? pastedFirst(complete, pasted) : groups)
        if (best.length < limit) best.push(...rank(group, limit - best.length))
      const isHit = new Uint8Array(index.size())
      for (const [number] of best) isHit[number] = 1
      const [wordRows, phraseRows] = [byWord, byPhrase].map((lists) =>
        lists.map((rows) => rows.filter((row) => isHit[caseOf(row)])),
      ) as [number[][], number[][]]
      const expression = [...words.map(wordExpression), ...quoted].join(' OR ')
      const lines = await linesOf(expression, await bestRows([...wordRows, ...phraseRows]))
      const missing = (number: number) =>
        words.filter((_, at) => !wordRows[at]!.some((row) => caseOf(row) === number))
      const hits = best.flatMap(([number, score]): Hit[] => {
        const id = index.id(number)
        if (id === undefined) return [] // deleted since
        const rounded = Number(score.toPrecision(4))
        return [{ id, score: rounded, missing: missing(number), lines: lines(number) }]
      })
      return { total: isComplete ? complete.length : groups.flat().length, hits }
    },
    async matching(query) {
      await index.upToDate()
      if (query.words.length + query.phrases.length === 0)
        return cases(query.filters).map(({ id }) => id)
      return match(query).groups[0]!.flatMap((number) => index.id(number) ?? [])
    },
    async similar(id, limit) {
      await index.upToDate()
      const entry = catalog.entry(id)
      const number = index.number(id)
      if (!entry || number === undefined) return []
      const resolved = numbersFitting({ state: ['RESOLVED'] })!
      resolved.delete(number)
      const { title, description } = entry.file.value
      const found = similarCases(
        tables,
        { title, description, count: catalog.ids().length },
        resolved,
      )
      return found
        .map(({ number, ...each }) => ({ id: index.id(number)!, ...each }))
        .sort((a, b) => b.score - a.score || compare(a.id, b.id))
        .slice(0, limit)
    },
  }
}

/** Descriptions and notes come before what sessions and tests put out. */
function placeOf(name: string): number {
  return TEXT_COLUMNS.indexOf(columnOf(name))
}

/** With the score for the word itself in addition to that for words that begin so. */
function rankedExpression(word: string): string {
  return `${phraseExpression(word)} OR ${wordExpression(word)}`
}

/** How many of the lists have rows of a case, by its number. */
function countByCase(lists: readonly (readonly number[])[], size: number): Uint16Array {
  const counts = new Uint16Array(size)
  for (const rows of lists) {
    let last = -1
    for (const row of rows) {
      const number = caseOf(row)
      if (number !== last) counts[number]! += 1
      last = number
    }
  }
  return counts
}
