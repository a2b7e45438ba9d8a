/**
 * Tables `cases` and `records`: each case as it was published last, with one row per file. They are written in the
 * transaction of its events, so what differs from the files is what was not published yet. If they are lost, they are
 * made from the files again; audit trails then count as the files have them.
 */

import type { Database, Run } from './database.ts'

/** What a start needs of a case. */
export interface ListedCase {
  id: string
  /** The stamps of its files, so that only changed ones are read; empty if it must be read again. */
  stamps: string
  /** What lists show, as JSON. */
  listed: string
}

export interface StoredCase extends ListedCase {
  /** What was read of its folder, and what was published beside the files, as JSON. */
  folder: string
  /** The JSON of API responses. */
  json: string
}

/** A file, relative to the folder of the case, and what was read of it, as JSON. */
export interface RecordRow {
  file: string
  record: string
  /** Null if it is not needed, or stored already. */
  text: string | null
}

export interface StoredRows {
  /** Whether another build stored the rows, which may read the same files differently. */
  readonly isOtherFormat: boolean
  listed(): ListedCase[]
  folder(id: string): string | undefined
  /** What was read of the files of a case, by name: all, or so many after one. */
  records(id: string, after?: string, limit?: number): Omit<RecordRow, 'text'>[]
  /** What was read of one file. */
  record(id: string, file: string): string | undefined
  /** The last readable text of a file that has been stored with one. */
  text(id: string, file: string): string | null
  json(id: string): string | undefined
  /** The JSON of all cases, as bytes. */
  allJson(): Iterable<{ id: string; json: Uint8Array }>
  /** The problems of the workspace that were published last, as JSON; undefined if the first start has not ended. */
  workspaceProblems(): string | undefined
}

/** Splits `<case id>/<file>`. */
export function partsOfKey(key: string): [caseId: string, file: string] {
  const slash = key.indexOf('/')
  return [key.slice(0, slash), key.slice(slash + 1)]
}

/** Number of cases whose JSON is read at a time. */
const BLOCK_SIZE = 500

const FORMAT = 'cases'
const PROBLEMS = 'workspace_problems'

/** `format` identifies everything that stored values depend on besides the files. */
export function readStoredRows(
  { all, get }: Pick<Database, 'all' | 'get'>,
  format = '',
): StoredRows {
  const meta = (name: string) =>
    get<{ value: string }>('SELECT value FROM meta WHERE name = ?', name)?.value
  return {
    isOtherFormat: (meta(FORMAT) ?? format) !== format,
    listed: () => all('SELECT id, stamps, listed FROM cases'),
    folder: (id) => get<StoredCase>('SELECT folder FROM cases WHERE id = ?', id)?.folder,
    records: (id, after = '', limit = -1) =>
      all(
        'SELECT file, record FROM records WHERE case_id = ? AND file > ? ORDER BY file LIMIT ?',
        id,
        after,
        limit,
      ),
    record: (id, file) =>
      get<RecordRow>('SELECT record FROM records WHERE case_id = ? AND file = ?', id, file)?.record,
    text: (id, file) =>
      get<RecordRow>('SELECT text FROM records WHERE case_id = ? AND file = ?', id, file)?.text ??
      null,
    json: (id) => get<StoredCase>('SELECT json FROM cases WHERE id = ?', id)?.json,
    *allJson() {
      let last = ''
      for (;;) {
        const block = all<{ id: string; json: Uint8Array }>(
          'SELECT id, CAST(json AS BLOB) AS json FROM cases WHERE id > ? ORDER BY id LIMIT ?',
          last,
          BLOCK_SIZE,
        )
        yield* block
        if (block.length < BLOCK_SIZE) return
        last = block.at(-1)!.id
      }
    },
    workspaceProblems: () => meta(PROBLEMS),
  }
}

const CASE_COLUMNS = ['id', 'stamps', 'listed', 'folder', 'json'] as const

const PUT_CASE = `INSERT INTO cases (${CASE_COLUMNS}) VALUES (?, ?, ?, ?, ?)
  ON CONFLICT (id) DO UPDATE SET ${CASE_COLUMNS.slice(1).map((name) => `${name} = excluded.${name}`)}`

const PUT_RECORD = `INSERT INTO records (case_id, file, record, text) VALUES (?, ?, ?, ?)
  ON CONFLICT (case_id, file) DO UPDATE SET record = excluded.record, text = coalesce(excluded.text, text)`

export function putCase(
  run: Run,
  row: StoredCase,
  changed: readonly RecordRow[],
  gone: readonly string[],
): void {
  run(PUT_CASE, ...CASE_COLUMNS.map((name) => row[name]))
  for (const { file, record, text } of changed) run(PUT_RECORD, row.id, file, record, text)
  for (const file of gone) run('DELETE FROM records WHERE case_id = ? AND file = ?', row.id, file)
}

export function putStamps(run: Run, id: string, stamps: string): void {
  run('UPDATE cases SET stamps = ? WHERE id = ?', stamps, id)
}

export function removeCase(run: Run, id: string): void {
  run('DELETE FROM cases WHERE id = ?', id)
  run('DELETE FROM records WHERE case_id = ?', id)
}

export function putWorkspaceProblems(run: Run, problems: string): void {
  run('INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)', PROBLEMS, problems)
}

/** Call when all rows are of this format. */
export function putFormat(run: Run, format: string): void {
  run('INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)', FORMAT, format)
}
