/** Table `baselines`: the baselines of `workspace/frozen-cases.ts`, for the next start. */

import * as z from 'zod'
import { CASE_STATES } from '../model/case-state.ts'
import type { FrozenValues } from '../model/frozen-values.ts'
import { type Database, parsedJson } from './database.ts'

/** A running session whose processes could write the case files. */
export interface OpenRun {
  session_id: string
  case_id: string
  number: number
  /** The moment before its first process, and the start of the system that it counts from. */
  since?: { boot: string | null; seconds: number } | undefined
  /** The changes that were ignored already, and so were not made by it. */
  known?: readonly string[] | undefined
}

/** The values when the first of the runs began. */
export interface Watch {
  runs: OpenRun[]
  cases: Record<string, FrozenValues>
}

export interface StoredFrozenValues {
  watch: Watch | null
  /** Frozen values of cases that changed since; they override those of the watch. */
  own: Map<string, FrozenValues>
}

/** Stores baselines: one row for all cases at the start of a run, and one for each case that changed since. */
export interface FrozenValuesStore {
  read(): StoredFrozenValues
  writeWatch(watch: Watch): Promise<void>
  removeWatch(): Promise<void>
  write(caseId: string, pins: FrozenValues): Promise<void>
  remove(caseId: string): Promise<void>
}

const ALL = ''

const REQUIRED_ITEM = z.object({ description: z.string(), type: z.string().nullable() })
const CHANGE = z.object({
  file: z.string(),
  from: z.string(),
  to: z.string(),
  by: z.object({ case_id: z.string(), number: z.number() }),
  lines: z.array(z.string()).optional(),
})
const FROZEN_VALUES = z.object({
  state: z.enum(CASE_STATES).optional(),
  required: z.array(REQUIRED_ITEM).optional(),
  proofs: z.record(z.string(), z.string().nullable()),
  sessions: z.record(z.string(), z.string().nullable()),
  whole: z.boolean(),
  committed: z
    .array(
      z.discriminatedUnion('kind', [
        CHANGE.extend({ kind: z.literal('state'), was: z.enum(CASE_STATES) }),
        CHANGE.extend({ kind: z.literal('checklist'), was: REQUIRED_ITEM }),
        CHANGE.extend({
          kind: z.enum(['verification', 'session']),
          id: z.string(),
          was: z.string().nullable(),
        }),
      ]),
    )
    .optional(),
})
const RUN = z.object({
  session_id: z.string(),
  case_id: z.string(),
  number: z.number(),
  since: z.object({ boot: z.string().nullable(), seconds: z.number() }).optional(),
  known: z.array(z.string()).optional(),
})
const WATCH = z.object({
  runs: z.array(RUN),
  cases: z.record(z.string(), FROZEN_VALUES),
})

export function createFrozenValuesStore(
  database: Database,
  log: (line: string) => void,
): FrozenValuesStore {
  function write(key: string, value: Watch | FrozenValues): Promise<void> {
    const text = JSON.stringify(value)
    database.write((run) => run('INSERT OR REPLACE INTO baselines VALUES (?, ?)', key, text))
    return database.flushed()
  }

  function remove(key: string): Promise<void> {
    database.write((run) => run('DELETE FROM baselines WHERE case_id = ?', key))
    return database.flushed()
  }

  return {
    read: () => readFrozenValues(database, log),
    writeWatch: (watch) => write(ALL, watch),
    removeWatch: () => remove(ALL),
    write,
    remove,
  }
}

/** Skips invalid rows and logs them. */
export function readFrozenValues(
  database: Pick<Database, 'all'>,
  log: (line: string) => void,
): StoredFrozenValues {
  const found: StoredFrozenValues = { watch: null, own: new Map() }
  const rows = database.all<{ case_id: string; baseline: string }>('SELECT * FROM baselines')
  for (const { case_id, baseline } of rows) {
    const value = parsedJson(baseline)
    if (case_id === ALL) found.watch = WATCH.safeParse(value).data ?? null
    const pins = case_id === ALL ? found.watch : FROZEN_VALUES.safeParse(value).data
    if (!pins)
      log('what counted as a run began makes no sense and was skipped: look at the cases yourself')
    else if ('whole' in pins) found.own.set(case_id, pins)
  }
  return found
}
