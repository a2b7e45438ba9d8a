/**
 * Table `trails`: what is known of audit trails besides the rows of their files (`records.ts`): lines whose file is
 * just being replaced, and the trails of sessions whose file is gone or has another session now.
 */

import type { ServiceFields } from '../model/session.ts'
import type { TrailLine } from '../model/trail.ts'
import type { Database, Run } from './database.ts'

/** A session in a file, which is relative to the folder of the case. */
export type SessionKey = readonly [caseId: string, file: string, sessionId: string]

export interface StoredTrail {
  /** The number of earlier lines that the lines follow. */
  after: number
  lines: TrailLine[]
  fields: ServiceFields
  /** Git object names of the file, if this is all of its trail. */
  gitNames: string[]
}

const OF_SESSION = 'trails WHERE case_id = ? AND file = ? AND session_id = ?'

/** The rows of a session, oldest first. */
export function storedTrails({ all }: Pick<Database, 'all'>, key: SessionKey): StoredTrail[] {
  const rows = all<{ trail: string }>(`SELECT trail FROM ${OF_SESSION} ORDER BY id`, ...key)
  return rows.map(({ trail }) => JSON.parse(trail))
}

const PUT = 'INSERT INTO trails (case_id, file, session_id, after, trail) VALUES (?, ?, ?, ?, ?)'

export function putTrail(run: Run, key: SessionKey, trail: StoredTrail): void {
  run(PUT, ...key, trail.after, JSON.stringify(trail))
}

/** Call with the row of a file that has so many lines. Lines that are just being added to these stay. */
export function removeTrails(run: Run, key: SessionKey, lines: number): void {
  run(`DELETE FROM ${OF_SESSION} AND after < ?`, ...key, lines)
}

export function forgetTrails(run: Run, caseId: string): void {
  run('DELETE FROM trails WHERE case_id = ?', caseId)
}
