/**
 * Tables `cases`, `case_values` and `texts`: what the service last read of each case, so that a start reads only
 * files that changed. If they are lost, the next start is slower.
 */

import { LIST_COLUMNS, type ListColumns } from './case-lists.ts'
import type { Database, Run } from './database.ts'

/** What a start needs to detect whether the files of a case have changed. */
export interface KnownCase {
  id: string
  parent: string | null
  /** Names of its folders and files, one per line, relative to the case folder, which is `.`. */
  names: string
  /** Hash of the stamps of `names`, in their order; null if the files must be read again. */
  print: string | null
}

/** A case as stored. */
export interface CaseRow extends KnownCase, ListColumns {
  created_at: string
  /** The JSON of API responses. */
  json: string
  /** The JSON of the case entry of the catalog. */
  entry: string
  /** Texts read since the last save, by file. */
  texts: Readonly<Record<string, string>>
  /** The record files of the case. */
  files: readonly string[]
}

/** The stored cases. */
export interface ReadCaseRows {
  /** Cases that need not be read again if their stamps are the same. */
  known(): KnownCase[]
  /** All ids, including cases that must be read again. */
  ids(): string[]
  values(id: string): { json: string; entry: string } | undefined
  json(id: string): string | undefined
  summary(id: string): string | undefined
  /** The JSON of all cases, as bytes. */
  allJson(): Iterable<{ id: string; json: Uint8Array }>
  /** The last readable text of a record file. */
  text(id: string, file: string): string | null
}

export interface CaseRows extends ReadCaseRows {
  put(row: CaseRow, onWritten: () => void): void
  remove(id: string, onWritten: () => void): void
}

/** Number of cases whose JSON is read at a time. */
const BLOCK_SIZE = 500

/** Name of the row of table `meta` with the format of the stored cases. */
const FORMAT_NAME = 'cases'

/**
 * `format` identifies everything that stored values depend on besides the files. If it changes, every case is read
 * again; the texts stay.
 */
export function openCaseRows(database: Database, format: string): CaseRows {
  const { write } = database
  const rows = readCaseRows(database, format)
  if (!rows.isOfFormat) {
    write((run) => {
      run('UPDATE cases SET print = NULL')
      run('INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)', FORMAT_NAME, format)
    })
  }
  return {
    ...rows,
    put: (row, onWritten) => write((run) => putRow(run, row), onWritten),
    remove(id, onWritten) {
      write((run) => {
        run('DELETE FROM texts WHERE n = (SELECT n FROM cases WHERE id = ?)', id)
        run('DELETE FROM case_values WHERE n = (SELECT n FROM cases WHERE id = ?)', id)
        run('DELETE FROM cases WHERE id = ?', id)
      }, onWritten)
    },
  }
}

/** Same as `openCaseRows`, for commands that only read. `isOfFormat`: whether the rows were stored in this format. */
export function readCaseRows(
  { all, get }: Pick<Database, 'all' | 'get'>,
  format: string,
): ReadCaseRows & { isOfFormat: boolean } {
  const stored = get<{ value: string }>('SELECT value FROM meta WHERE name = ?', FORMAT_NAME)
  const isOfFormat = stored?.value === format
  return {
    isOfFormat,
    known() {
      if (!isOfFormat) return []
      return all('SELECT id, parent, names, print FROM cases WHERE print IS NOT NULL')
    },
    ids: () => all<{ id: string }>('SELECT id FROM cases').map(({ id }) => id),
    values: (id) =>
      get('SELECT json, entry FROM cases JOIN case_values USING (n) WHERE id = ?', id),
    json: (id) =>
      get<{ json: string }>('SELECT json FROM cases JOIN case_values USING (n) WHERE id = ?', id)
        ?.json,
    summary: (id) =>
      get<{ summary: string }>('SELECT summary FROM cases WHERE id = ?', id)?.summary,
    *allJson() {
      let last = 0
      for (;;) {
        const block = all<{ n: number; id: string; json: Uint8Array }>(
          `SELECT n, id, CAST(json AS BLOB) AS json FROM case_values JOIN cases USING (n)
          WHERE n > ? ORDER BY n LIMIT ?`,
          last,
          BLOCK_SIZE,
        )
        yield* block
        if (block.length < BLOCK_SIZE) return
        last = block.at(-1)!.n
      }
    },
    text(id, file) {
      const found = get<{ text: string }>(
        'SELECT text FROM cases JOIN texts USING (n) WHERE id = ? AND file = ?',
        id,
        file,
      )
      return found?.text ?? null
    },
  }
}

const COLUMNS = [
  'id',
  'created_at',
  'parent',
  'names',
  'print',
  ...LIST_COLUMNS,
] as const satisfies (keyof CaseRow)[]

const PUT_CASE = `INSERT INTO cases (${COLUMNS}) VALUES (${COLUMNS.map(() => '?')})
  ON CONFLICT (id) DO UPDATE SET ${COLUMNS.map((name) => `${name} = excluded.${name}`)}`

function putRow(run: Run, row: CaseRow): void {
  const { id, json, entry, texts, files } = row
  run(PUT_CASE, ...COLUMNS.map((name) => row[name]))
  run(
    'INSERT OR REPLACE INTO case_values (n, json, entry) SELECT n, ?, ? FROM cases WHERE id = ?',
    json,
    entry,
    id,
  )
  run(
    `DELETE FROM texts WHERE n = (SELECT n FROM cases WHERE id = ?)
    AND file NOT IN (SELECT value FROM json_each(?))`,
    id,
    JSON.stringify(files),
  )
  for (const [file, text] of Object.entries(texts)) {
    run(
      'INSERT OR REPLACE INTO texts (n, file, text) SELECT n, ?, ? FROM cases WHERE id = ?',
      file,
      text,
      id,
    )
  }
}
