import type { Database } from './database.ts'

/** Table `session_numbers`: the last number of a session in each case, in case its file and artifacts are deleted. */
export interface SessionNumbers {
  /** The last number that a session of the case got on this machine; 0 if none did. */
  last(caseId: string): number
  /** Stored at the latest with the event of the new session. */
  remember(caseId: string, number: number): void
}

export function createSessionNumbers(database: Pick<Database, 'get' | 'later'>): SessionNumbers {
  const unwritten = new Map<string, number>()
  return {
    last: (caseId) => unwritten.get(caseId) ?? lastSessionNumber(database, caseId),
    remember(caseId, number) {
      unwritten.set(caseId, number)
      database.later(
        (run) => run('INSERT OR REPLACE INTO session_numbers VALUES (?, ?)', caseId, number),
        () => unwritten.get(caseId) === number && unwritten.delete(caseId),
      )
    },
  }
}

export function lastSessionNumber(database: Pick<Database, 'get'>, caseId: string): number {
  const row = database.get<{ last: number }>(
    'SELECT last FROM session_numbers WHERE case_id = ?',
    caseId,
  )
  return row?.last ?? 0
}
