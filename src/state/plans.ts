/** Table `plans`. */

import { sha256 } from '../markdown/session-file.ts'
import { AppError } from '../model/app-error.ts'
import type { Database } from './database.ts'

/**
 * The texts of plans that sessions had, by their sha256, so that what a revision changed can be shown. A text
 * that is missing is only not shown.
 */
export interface PlanTexts {
  /** Resolves when the text is on the disk, or the reason why not is logged. Never rejects because of the disk. */
  store(text: string): Promise<void>
  has(sha256: string): boolean
  /** Null where it is not stored. */
  read(sha256: string): string | null
  /** Removes those not used for 90 days, and the oldest of more than 5,000. For the start. */
  prune(): void
}

const KEPT_MS = 90 * 24 * 60 * 60 * 1000
const MAX_PLANS = 5000

export function createPlanTexts(
  database: Database,
  log: (line: string) => void,
  { maxPlans = MAX_PLANS, now = Date.now } = {},
): PlanTexts {
  return {
    async store(text) {
      if (text === '') return
      const usedAt = now()
      const hash = sha256(text)
      // as bytes: SQLite's package ends a text at a NUL
      const bytes = Buffer.from(text)
      database.write((run) =>
        run(
          'INSERT OR REPLACE INTO plans (sha256, text, used_at) VALUES (?, ?, ?)',
          hash,
          bytes,
          usedAt,
        ),
      )
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
