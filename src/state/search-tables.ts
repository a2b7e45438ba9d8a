import type { Database } from './database.ts'

/** The words of a case by where they are, as the index takes them: separated by blanks. */
export const SEARCHED_COLUMNS = [
  'title',
  'tags',
  'description',
  'notes',
  'sessions',
  'proof',
] as const
export type SearchedWords = Record<(typeof SEARCHED_COLUMNS)[number], string>

export interface IndexedCase {
  /** Changes with the files; empty when the files had just changed and have to be read again. */
  stamp: string
  /** The names of its files, one a line. */
  names: string
}

export interface RankedCases {
  total: number
  /** The number of a case and its score, the best first. */
  best: [number: number, score: number][]
}

/**
 * The full text index: what SQLite's FTS5 has in `search_texts`, one row for each case. Expressions are those of
 * FTS5's MATCH. Reads see what is flushed.
 */
export interface SearchTables {
  cases(): { number: number; id: string }[]
  indexed(number: number): IndexedCase | undefined
  words(number: number): SearchedWords | undefined
  /** `words`: null when they are as before. */
  put(number: number, id: string, indexed: IndexedCase, words: SearchedWords | null): void
  remove(number: number): void
  /** The best `limit` of the cases that match by BM25, or all of them. */
  rank(expression: string, limit: number | 'all'): RankedCases
  /** All cases that match, in no order. */
  matches(expression: string): number[]
  /** Up to `count` words that any case has, in order, from behind this one. */
  vocabulary(after: string, count: number): string[]
  /** Resolves when what was put and removed is on the disk; false when it cannot be written. */
  flushed(): Promise<boolean>
  /** Whether the last write failed: what is put now would only wait. */
  isFailing(): boolean
}

const RANK = `
  WITH matching AS MATERIALIZED
    (SELECT rowid AS number, -rank AS score FROM search_texts WHERE search_texts MATCH ?)
  SELECT
    (SELECT count(*) FROM matching) AS total,
    (SELECT json_group_array(json_array(number, score)) FROM
      (SELECT number, score FROM matching ORDER BY score DESC, number LIMIT ?)) AS best`

const MATCHES =
  'SELECT json_group_array(rowid) AS numbers FROM search_texts WHERE search_texts MATCH ?'

const COLUMNS = SEARCHED_COLUMNS.join(', ')

export function createSearchTables(database: Database): SearchTables {
  return {
    cases: () => database.all('SELECT number, id FROM search_cases'),
    indexed: (number) =>
      database.get('SELECT stamp, names FROM search_cases WHERE number = ?', number),
    words: (number) => database.get(`SELECT ${COLUMNS} FROM search_texts WHERE rowid = ?`, number),
    put(number, id, { stamp, names }, words) {
      database.write((run) => {
        run('INSERT OR REPLACE INTO search_cases VALUES (?, ?, ?, ?)', number, id, stamp, names)
        if (!words) return
        run('DELETE FROM search_texts WHERE rowid = ?', number)
        run(
          `INSERT INTO search_texts (rowid, ${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)`,
          number,
          ...SEARCHED_COLUMNS.map((column) => words[column]),
        )
      })
    },
    remove(number) {
      database.write((run) => {
        run('DELETE FROM search_cases WHERE number = ?', number)
        run('DELETE FROM search_texts WHERE rowid = ?', number)
      })
    },
    rank(expression, limit) {
      const row = database.get<{ total: number; best: string }>(
        RANK,
        expression,
        limit === 'all' ? -1 : limit,
      )!
      return { total: row.total, best: JSON.parse(row.best) }
    },
    matches: (expression) =>
      JSON.parse(database.get<{ numbers: string }>(MATCHES, expression)!.numbers),
    vocabulary: (after, count) =>
      database
        .all<{ term: string }>(
          'SELECT term FROM search_words WHERE term > ? ORDER BY term LIMIT ?',
          after,
          count,
        )
        .map(({ term }) => term),
    flushed: () =>
      database.flushed().then(
        () => true,
        () => false,
      ),
    isFailing: () => database.failure !== null,
  }
}
