/** The tables of the full-text index (FTS5), which `search/` fills and queries. */

import type { FilteredField } from '../model/case-fields.ts'
import { type CaseFilters, conditionsOf, FIELD_COLUMNS, whereAll } from './case-filters.ts'
import type { Database } from './database.ts'

/** The words of a case by field, separated by spaces, as the index stores them. */
export const SEARCHED_COLUMNS = [
  'title',
  'tags',
  'description',
  'notes',
  'sessions',
  'proof',
] as const
export type SearchedWords = Record<(typeof SEARCHED_COLUMNS)[number], string>

export interface IndexedCase extends Record<FilteredField, string> {
  id: string
  /** Changes with the files; empty if the files had just changed and must be read again. */
  stamp: string
  /** The names of its files, one per line. */
  names: string
  updated_at: string
}

export interface RankedCases {
  total: number
  /** The numbers of cases and their scores, best first. */
  best: [number: number, score: number][]
}

/**
 * The full-text index: the FTS5 table `search_texts` with one row per case, and `search_cases` with the cases.
 * Expressions are FTS5 MATCH expressions. Reads see flushed data.
 */
export interface SearchTables {
  cases(): { number: number; id: string }[]
  indexed(number: number): IndexedCase | undefined
  words(number: number): SearchedWords | undefined
  /** `words` is null if unchanged. */
  put(number: number, indexed: IndexedCase, words: SearchedWords | null): void
  remove(number: number): void
  /** The number of cases that match the expression and filters, and the best of them by BM25. */
  rank(expression: string, limit: number, filters: CaseFilters): RankedCases
  /** Only the best ones, which is faster. */
  best(expression: string, limit: number, filters: CaseFilters): RankedCases['best']
  /** The score of one case, as in `rank`. */
  score(expression: string, number: number): number
  /** All cases that match, in no particular order. */
  matches(expression: string): number[]
  /** All cases that match the filters, last changed first. */
  fitting(filters: CaseFilters): number[]
  /** Resolves when all changes are stored or cannot be written. */
  flushed(): Promise<void>
  /** Whether the last write failed, so that further changes would only wait. */
  isFailing(): boolean
}

const CASE_COLUMNS = ['id', 'stamp', 'names', ...FIELD_COLUMNS, 'updated_at'] as const

interface RankedRow {
  number: number
  score: number
}

const BEST_FIRST = 'ORDER BY score DESC, number LIMIT ?'

export function createSearchTables(database: Database): SearchTables {
  const insertCase = insert('OR REPLACE INTO search_cases', ['number', ...CASE_COLUMNS])
  const insertWords = insert('INTO search_texts', ['rowid', ...SEARCHED_COLUMNS])

  return {
    cases: () => database.all('SELECT number, id FROM search_cases'),
    indexed: (number) =>
      database.get(`SELECT ${CASE_COLUMNS.join()} FROM search_cases WHERE number = ?`, number),
    words: (number) =>
      database.get(`SELECT ${SEARCHED_COLUMNS.join()} FROM search_texts WHERE rowid = ?`, number),
    put(number, indexed, words) {
      database.write((run) => {
        run(insertCase, number, ...CASE_COLUMNS.map((column) => indexed[column]))
        if (!words) return
        run('DELETE FROM search_texts WHERE rowid = ?', number)
        run(insertWords, number, ...SEARCHED_COLUMNS.map((column) => words[column]))
      })
    },
    remove(number) {
      database.write((run) => {
        run('DELETE FROM search_cases WHERE number = ?', number)
        run('DELETE FROM search_texts WHERE rowid = ?', number)
      })
    },
    rank(expression, limit, filters) {
      const { sql, values } = matching(expression, filters)
      const rows = database.all<RankedRow & { total: number }>(
        `WITH matching AS MATERIALIZED (${sql})
        SELECT number, score, (SELECT count(*) FROM matching) AS total FROM matching ${BEST_FIRST}`,
        ...values,
        limit,
      )
      return { total: rows[0]?.total ?? 0, best: rows.map(pairOf) }
    },
    best(expression, limit, filters) {
      const { sql, values } = matching(expression, filters)
      return database.all<RankedRow>(`${sql} ${BEST_FIRST}`, ...values, limit).map(pairOf)
    },
    score: (expression, number) =>
      database.get<{ score: number }>(
        'SELECT -rank AS score FROM search_texts WHERE search_texts MATCH ? AND rowid = ?',
        expression,
        number,
      )?.score ?? 0,
    matches: (expression) =>
      numbersOf('SELECT rowid AS number FROM search_texts WHERE search_texts MATCH ?', expression),
    fitting(filters) {
      const { conditions, values } = conditionsOf(filters)
      const where = whereAll(conditions)
      const order = 'ORDER BY updated_at DESC, id'
      return numbersOf(`SELECT number FROM search_cases ${where} ${order}`, ...values)
    },
    flushed: () => database.flushed().catch(() => {}), // the database logs the error
    isFailing: () => database.failure !== null,
  }

  /** As one JSON value, as thousands of rows take ten times as long. */
  function numbersOf(sql: string, ...values: string[]): number[] {
    const row = database.get<{ numbers: string }>(
      `SELECT json_group_array(number) AS numbers FROM (${sql})`,
      ...values,
    )!
    return JSON.parse(row.numbers)
  }
}

function insert(into: string, columns: readonly string[]): string {
  return `INSERT ${into} (${columns.join()}) VALUES (${columns.map(() => '?').join()})`
}

function matching(expression: string, filters: CaseFilters): { sql: string; values: string[] } {
  const { conditions, values } = conditionsOf(filters)
  const where = whereAll(conditions)
  // `+` makes SQLite start from the matches and look up their cases
  const fits = where === '' ? '' : `AND +rowid IN (SELECT number FROM search_cases ${where})`
  return {
    sql: `SELECT rowid AS number, -rank AS score FROM search_texts WHERE search_texts MATCH ? ${fits}`,
    values: [expression, ...values],
  }
}

function pairOf({ number, score }: RankedRow): [number: number, score: number] {
  return [number, score]
}
