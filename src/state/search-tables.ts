/** The tables of the full-text index (FTS5), which `search/` fills and queries. */

import type { Database, Run } from './database.ts'
import type { SqlRow } from './sqlite.ts'

/** The columns of the index. A file fills one of the last four; case.md also fills the first one. */
export const TEXT_COLUMNS = ['tags', 'description', 'notes', 'sessions', 'proof'] as const
export type TextColumn = (typeof TEXT_COLUMNS)[number]

export interface IndexedFile {
  row: number
  /** Relative to the folder of its case. */
  name: string
  /** Of the bytes whose text is in the index. */
  hash: string
}

export interface Scores {
  rows: number[]
  scores: number[]
}

export interface MarkedFile {
  row: number
  name: string
  /** With `MARK.open` and `MARK.close` around what matches. */
  text: string
}

/**
 * One row per file, in `search_texts` (FTS5) and in `search_files`. The row number contains the number of the case.
 * Expressions are FTS5 MATCH expressions. Reads see flushed data.
 */
export interface SearchTables {
  cases(): { number: number; id: string }[]
  files(number: number): IndexedFile[]
  putCase(number: number, id: string): void
  /** `title` is null for other files than case.md. */
  putFile(file: IndexedFile, texts: Partial<Record<TextColumn, string>>, title: string | null): void
  removeFile(row: number): void
  removeCase(number: number): void
  /** The rows that match, in ascending order. */
  matches(expression: string, limit?: number): number[]
  /** The titles that match, by the row of their case.md, and their BM25 scores. */
  titleScores(expression: string): Scores
  /** The rows that match, and their BM25 scores. */
  scores(expression: string): Scores
  /** The names of the files in these rows. */
  names(rows: readonly number[]): Pick<IndexedFile, 'row' | 'name'>[]
  /** Those of these rows that match. */
  marked(expression: string, rows: readonly number[]): MarkedFile[]
  /** What `setStatus` stored last. */
  status(): string | null
  setStatus(status: string): void
  clear(): void
  /** Resolves when all changes are stored or cannot be written. */
  flushed(): Promise<void>
  /** Whether the last write failed, so that further changes would only wait. */
  isFailing(): boolean
}

/** The row of the first file of a case is its number times this. */
const ROWS_OF_CASE = 2 ** 20

/** The number of the case that a row belongs to. */
export function caseOf(row: number): number {
  return Math.floor(row / ROWS_OF_CASE)
}

export function firstRow(number: number): number {
  return number * ROWS_OF_CASE
}

const ROWS = `rowid >= ? * ${ROWS_OF_CASE} AND rowid < (? + 1) * ${ROWS_OF_CASE}`
const COLUMNS = {
  search_cases: ['number', 'id'],
  search_files: ['rowid', 'name', 'hash'],
  search_titles: ['rowid', 'title'],
  search_texts: ['rowid', ...TEXT_COLUMNS],
}
/** The text of a file is in one of these columns. */
const ROW_TABLES = ['search_texts', 'search_files', 'search_titles']
const MARKED = TEXT_COLUMNS.slice(1)
  .map((_, index) => `highlight(search_texts, ${index + 1}, char(2), char(3))`)
  .join(' || ')

export function createSearchTables(database: Database): SearchTables {
  return {
    cases: () => database.all('SELECT number, id FROM search_cases'),
    files: (number) =>
      database.all(
        `SELECT rowid AS row, name, hash FROM search_files WHERE ${ROWS} ORDER BY rowid`,
        number,
        number,
      ),
    putCase: (number, id) =>
      database.writeDerived((run) => run(insertInto('search_cases'), number, id)),
    putFile({ row, name, hash }, texts, title) {
      database.writeDerived((run) => {
        run(insertInto('search_texts'), row, ...TEXT_COLUMNS.map((column) => texts[column] ?? ''))
        run(insertInto('search_files'), row, name, hash)
        if (title !== null) run(insertInto('search_titles'), row, title)
      })
    },
    removeFile: (row) => database.writeDerived((run) => removeRow(run, row)),
    removeCase: (number) =>
      database.writeDerived((run) => {
        for (const table of ROW_TABLES) run(`DELETE FROM ${table} WHERE ${ROWS}`, number, number)
        run('DELETE FROM search_cases WHERE number = ?', number)
      }),
    // as JSON, as thousands of rows take ten times as long
    matches(expression, limit = -1) {
      const { rows } = database.get<{ rows: string }>(
        `SELECT json_group_array(rowid) AS rows
        FROM (SELECT rowid FROM search_texts WHERE search_texts MATCH ? LIMIT ?)`,
        expression,
        limit,
      )!
      return JSON.parse(rows)
    },
    titleScores: (expression) => scoresIn('search_titles', expression),
    scores: (expression) => scoresIn('search_texts', expression),
    names: (rows) =>
      database.all(
        'SELECT rowid AS row, name FROM search_files WHERE rowid IN (SELECT value FROM json_each(?))',
        JSON.stringify(rows),
      ),
    marked: (expression, rows) =>
      database.all(
        // `+` makes SQLite look for the matches once, and not once for each row
        `SELECT search_texts.rowid AS row, name, ${MARKED} AS text
        FROM search_texts JOIN search_files ON search_files.rowid = search_texts.rowid
        WHERE search_texts MATCH ? AND +search_texts.rowid IN (SELECT value FROM json_each(?))`,
        expression,
        JSON.stringify(rows),
      ),
    status: () =>
      database.get<{ value: string }>("SELECT value FROM meta WHERE name = 'search'")?.value ??
      null,
    setStatus: (status) =>
      database.writeDerived((run) =>
        run("INSERT OR REPLACE INTO meta VALUES ('search', ?)", status),
      ),
    clear: () =>
      database.writeDerived((run) => {
        for (const table of Object.keys(COLUMNS)) run(`DELETE FROM ${table}`)
      }),
    flushed: () => database.flushed().catch(() => {}), // the database logs the error
    isFailing: () => database.failure !== null,
  }

  function scoresIn(table: string, expression: string): Scores {
    const { rows, scores } = database.get<{ rows: string; scores: string }>(
      `SELECT json_group_array(rowid) AS rows, json_group_array(-rank) AS scores
      FROM ${table} WHERE ${table} MATCH ?`,
      expression,
    )!
    return { rows: JSON.parse(rows), scores: JSON.parse(scores) }
  }
}

function removeRow(run: Run, row: number): void {
  for (const table of ROW_TABLES) run(`DELETE FROM ${table} WHERE rowid = ?`, row)
}

function insertInto(table: keyof typeof COLUMNS): string {
  const columns = COLUMNS[table]
  return `INSERT INTO ${table} (${columns.join()}) VALUES (${columns.map(() => '?').join()})`
}

/** Copies the index into empty tables of another database. */
export function copySearchIndex(from: Pick<Database, 'all'>, to: Pick<Database, 'write'>): void {
  to.write((run) => {
    run('BEGIN')
    for (const table of Object.keys(COLUMNS) as (keyof typeof COLUMNS)[]) {
      const rows = from.all<SqlRow>(`SELECT ${COLUMNS[table].join()} FROM ${table}`)
      for (const row of rows) run(insertInto(table), ...Object.values(row))
    }
    run('COMMIT')
  })
}
