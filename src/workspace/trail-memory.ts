/**
 * Knows what each audit trail contained when this machine last published or wrote it, so that a start detects changes
 * made while no service ran: that is in the row of its file in casefile.db. What a write adds is stored before the file
 * is replaced, until the row has it.
 */

import { gitNamesOf } from '../git/contents.ts'
import { type Session, serviceFields } from '../model/session.ts'
import type { TrailLine } from '../model/trail.ts'
import type { Database, Run } from '../state/database.ts'
import { readStoredRows } from '../state/record-rows.ts'
import * as rows from '../state/trails.ts'
import type { CaseEntry } from './case-entry.ts'
import type { RecordFile } from './record-file.ts'

type Sessions = ReadonlyMap<number, Pick<RecordFile<Session | null>, 'value'>>

export interface KnownSession {
  session: Session
  /** Git object names of the file with its trail; empty if that is the last text that was published. */
  gitNames: string[]
}

export interface TrailMemory {
  /** The session as read now, with the last known audit trail and its fields; null if it is unknown. */
  recall(read: Session): KnownSession | null
  /** Call before the file of a session is replaced, with the number of its lines before; resolves when it is stored. */
  begin(session: Session, after: number): Promise<void>
  forget(caseId: string): void
}

export function createTrailMemory(
  database: Pick<Database, 'all' | 'get' | 'attempt' | 'write'>,
): TrailMemory {
  return {
    ...readTrailMemory(database),
    begin: (session, after) =>
      database.attempt((run) => rows.putTrail(run, keyOf(session), trailOf(session, [], after))),
    forget: (caseId) => database.write((run) => rows.forgetTrails(run, caseId)),
  }
}

/** A trail memory for commands that only read a workspace. */
export function readTrailMemory(
  database: Pick<Database, 'all' | 'get'>,
): Pick<TrailMemory, 'recall'> {
  const { record } = readStoredRows(database)
  return {
    recall(read) {
      const key = keyOf(read)
      const row = record(key[0], key[1])
      const published: Session | null = row ? JSON.parse(row).value : null
      // after a crash the file may lack the lines that were to be added
      const inFile = new Set(read.trail.map((line) => JSON.stringify(line)))
      const trails = rows
        .storedTrails(database, key)
        .filter(({ after, lines }) => after === 0 || inFile.has(JSON.stringify(lines[0])))
      if (published?.id === read.id) trails.unshift(trailOf(published, []))
      const last = trails.at(-1)
      if (!last) return null
      let trail: TrailLine[] = []
      for (const { after, lines } of trails) trail = [...trail.slice(0, after), ...lines]
      return { session: { ...read, ...last.fields, trail }, gitNames: last.gitNames }
    },
  }
}

/** What to write with the rows of a case, for sessions that these no longer have. `textOf`: the last text of a file. */
export function trailsBesideRows(
  before: CaseEntry | null,
  after: CaseEntry | null,
  textOf: (file: string) => string | null,
): (run: Run) => void {
  const known: Sessions = before?.sessions ?? new Map()
  const present: Sessions = after?.sessions ?? new Map()
  const read = [...present].filter(([number, record]) => record !== known.get(number))
  const left = [...known].flatMap(([number, { value }]) => {
    if (!value || present.get(number)?.value?.id === value.id) return []
    return [[keyOf(value), trailOf(value, gitNamesOf(textOf(keyOf(value)[1]) ?? ''))] as const]
  })
  return (run) => {
    for (const [, { value }] of read)
      if (value) rows.removeTrails(run, keyOf(value), value.trail.length)
    for (const [key, trail] of left) rows.putTrail(run, key, trail)
  }
}

function keyOf({ case_id, number, id }: Session): rows.SessionKey {
  return [case_id, `sessions/${number}.md`, id]
}

function trailOf(session: Session, gitNames: string[], after = 0): rows.StoredTrail {
  return { after, lines: session.trail.slice(after), fields: serviceFields(session), gitNames }
}
