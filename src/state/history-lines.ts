/** Table `history_lines`: which lines of a case's history.md this machine wrote, so that others are known as others'. */

import { hash } from 'node:crypto'
import type { Database } from './database.ts'

export interface HistoryLines {
  add(caseId: string, lines: readonly string[]): void
  /** Whether this machine wrote a line, with the lines of its text. */
  of(caseId: string): (line: string) => boolean
  forget(caseId: string): void
}

export function createHistoryLines(database: Pick<Database, 'all' | 'write'>): HistoryLines {
  return {
    add(caseId, lines) {
      database.write((run) => {
        for (const line of lines)
          run('INSERT OR IGNORE INTO history_lines VALUES (?, ?)', caseId, keyOf(line))
      })
    },
    of(caseId) {
      const rows = database.all<{ line: string }>(
        'SELECT line FROM history_lines WHERE case_id = ?',
        caseId,
      )
      const known = new Set(rows.map(({ line }) => line))
      return (line) => known.has(keyOf(line))
    },
    forget(caseId) {
      database.write((run) => run('DELETE FROM history_lines WHERE case_id = ?', caseId))
    },
  }
}

function keyOf(line: string): string {
  return hash('sha256', line, 'base64url')
}
