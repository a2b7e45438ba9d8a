/**
 * Tables of history.md: which lines this machine wrote (also with their exact times, so that each act is one line), which of them the file may not have yet, and what people
 * changed by hand that has no line yet.
 */

import { hash } from 'node:crypto'
import type { Database, Run } from './database.ts'

/**
 * A line that history.md may not have (`line`), or as JSON what a person changed by hand (`act`). Ids ascend in the order
 * in which they were added.
 */
export interface PendingRow {
  id: number
  case_id: string
  kind: 'line' | 'act'
  text: string
}

/** Rows that are needed no more, and lines of these, by case. */
export interface SettledLines {
  done: number[]
  wrote: [caseId: string, texts: readonly string[]][]
}

export interface HistoryLines {
  /** Whether this machine wrote a line, with the lines of its text. */
  of(caseId: string): (line: string) => boolean
  /** Whether `wrote` was called with this line. */
  has(caseId: string, line: string): boolean
  rows(): PendingRow[]
  wrote(run: Run, caseId: string, lines: readonly string[]): void
  add(run: Run, row: PendingRow): void
  settle(run: Run, settled: SettledLines): void
  forget(run: Run, caseId: string): void
}

export function createHistoryLines(database: Pick<Database, 'all'>): HistoryLines {
  return {
    of(caseId) {
      const rows = database.all<{ line: string }>(
        'SELECT line FROM history_lines WHERE case_id = ?',
        caseId,
      )
      const pending = database.all<PendingRow>(
        'SELECT * FROM history_pending WHERE case_id = ?',
        caseId,
      )
      const known = new Set([
        ...rows.map(({ line }) => line),
        ...pending.map(({ text }) => keyOf(text)),
      ])
      return (line) => known.has(keyOf(line))
    },
    has(caseId, line) {
      const query = 'SELECT 1 FROM history_lines WHERE case_id = ? AND line = ?'
      return database.all(query, caseId, keyOf(line)).length > 0
    },
    rows: () => database.all('SELECT * FROM history_pending ORDER BY id'),
    wrote,
    add(run, { id, case_id, kind, text }) {
      run('INSERT INTO history_pending VALUES (?, ?, ?, ?)', id, case_id, kind, text)
    },
    settle(run, { done, wrote: lines }) {
      for (const [caseId, texts] of lines) wrote(run, caseId, texts)
      for (const id of done) run('DELETE FROM history_pending WHERE id = ?', id)
    },
    forget(run, caseId) {
      run('DELETE FROM history_pending WHERE case_id = ?', caseId)
      run('DELETE FROM history_lines WHERE case_id = ?', caseId)
    },
  }
}

function wrote(run: Run, caseId: string, lines: readonly string[]): void {
  for (const line of lines)
    run('INSERT OR IGNORE INTO history_lines VALUES (?, ?)', caseId, keyOf(line))
}

function keyOf(line: string): string {
  return hash('sha256', line, 'base64url')
}
