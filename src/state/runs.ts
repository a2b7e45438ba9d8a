/** Table `runs`: running sessions. At the start after a crash their processes are ended (`sessions/session-jobs.ts`). */

import * as z from 'zod'
import { type Database, parsedJson, type Run } from './database.ts'

/** Record of a session that runs on this machine, stored before its first process starts. */
export interface RunRow {
  session_id: string
  case_id: string
  number: number
  /** The value of CASEFILE_RUN in the environment of every process of the run. */
  mark: string
}

export interface RunRows {
  /** Stored with what is written next, which is the first change of the session. */
  add(record: RunRow): void
  /** If it rejects, no record is stored later either. */
  write(record: RunRow): Promise<void>
  remove(sessionId: string): Promise<void>
  /** What git could bring when the run began; null after `forgetStart`. */
  beganWith(sessionId: string): GitStart | null
  begin(sessionId: string, git: GitStart): Promise<void>
  forgetStart(sessionId: string): Promise<void>
  /** The records of a service that died. */
  all(): RunRow[]
}

/** As `git/brought-files.ts` finds it, with the time. */
const GIT_START = z.object({
  at: z.number(),
  isRepository: z.boolean(),
  commits: z.array(z.string()),
  indexed: z.array(z.string()).default([]),
  others: z.array(z.string()).default([]),
})
export type GitStart = z.infer<typeof GIT_START>

const RECORD = z.object({
  session_id: z.string().min(1),
  case_id: z.string().min(1),
  number: z.number().int().positive(),
  mark: z.string().min(1),
})

export function createRunRows(database: Database, log: (line: string) => void): RunRows {
  function put(record: RunRow) {
    const text = JSON.stringify(record)
    return (run: Run) => run('INSERT OR REPLACE INTO runs VALUES (?, ?)', record.session_id, text)
  }

  return {
    add: (record) => database.later(put(record)),
    write: (record) => database.attempt(put(record)),
    remove(sessionId) {
      database.write((run) => {
        run('DELETE FROM runs WHERE session_id = ?', sessionId)
        run('DELETE FROM run_starts WHERE session_id = ?', sessionId)
      })
      return database.flushed()
    },
    beganWith(sessionId) {
      const [row] = database.all<{ git: string }>(
        'SELECT git FROM run_starts WHERE session_id = ?',
        sessionId,
      )
      return row ? GIT_START.parse(parsedJson(row.git)) : null
    },
    begin(sessionId, git) {
      const text = JSON.stringify(git)
      database.write((run) =>
        run('INSERT OR REPLACE INTO run_starts VALUES (?, ?)', sessionId, text),
      )
      return database.flushed()
    },
    forgetStart(sessionId) {
      database.write((run) => run('DELETE FROM run_starts WHERE session_id = ?', sessionId))
      return database.flushed()
    },
    all: () => readRuns(database, log),
  }
}

/** The valid records; others are skipped and not deleted. */
export function readRuns(database: Pick<Database, 'all'>, log: (line: string) => void): RunRow[] {
  const rows = database.all<{ session_id: string; record: string }>('SELECT * FROM runs')
  return rows.flatMap(({ session_id, record }) => {
    const { data } = RECORD.safeParse(parsedJson(record))
    if (data?.session_id === session_id) return [data]
    log(`the record of the run of session ${session_id} makes no sense and was skipped`)
    return []
  })
}
