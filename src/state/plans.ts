/** Table `plans`: texts of plans. */

import { sha256 } from '../markdown/session-file.ts'
import { AppError } from '../model/app-error.ts'
import type { Database } from './database.ts'

/** Texts of session plans by sha256, to show what a revision changed. A missing text is just not shown. */
export interface PlanTexts {
  /** Resolves when the text is stored, or the error is logged. Never rejects for disk errors. */
  store(text: string): Promise<void>
  /** The same, in the next transaction. */
  add(text: string): void
  has(sha256: string): boolean
  /** Null if it is not stored. */
  read(sha256: string): string | null
  /** Removes texts unused for 90 days, and the oldest of more than 5,000. Called at start. */
  prune(): void
}

const KEPT_MS = 90 * 24 * 60 * 60 * 1000
const MAX_PLANS = 5000

export function createPlanTexts(
  database: Database,
  log: (line: string) => void,
  { maxPlans = MAX_PLANS, now = Date.now } = {},
): PlanTexts {
  function add(text: string): void {
    if (text === '') return
    // as bytes, because the SQLite package ends a text at a NUL
    const row = [sha256(text), Buffer.from(text), now()]
    database.later((run) =>
      run('INSERT OR REPLACE INTO plans (sha256, text, used_at) VALUES (?, ?, ?)', ...row),
    )
  }

  return {
    add,
    async store(text) {
      add(text)
      try {
        await database.flushed()
      } catch (error) {
        if (!(error instanceof AppError)) throw error
        log(`a plan was not stored for comparison: ${error.message}`)
      }
    },
    has: (hash) => database.all('SELECT 1 FROM plans WHERE sha256 = ?', hash).length > 0,
    read(hash) {
      const row = database.get<{ text: Uint8Array }>(
        'SELECT text FROM plans WHERE sha256 = ?',
        hash,
      )
      return row ? Buffer.from(row.text).toString() : null
    },
    prune() {
      const oldest = now() - KEPT_MS
      database.write((run) => {
        run('DELETE FROM plans WHERE used_at < ?', oldest)
        run(
          'DELETE FROM plans WHERE sha256 IN (SELECT sha256 FROM plans ORDER BY used_at DESC LIMIT -1 OFFSET ?)',
          maxPlans,
        )
      })
    },
  }
}
