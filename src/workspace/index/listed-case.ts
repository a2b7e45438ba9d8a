import { type FinishedRun, finishedRuns } from '../../model/finished-runs.ts'
import { type TriageRow, triageRow } from '../../model/triage-row.ts'
import type { CaseEntry } from '../case-entry.ts'
import { stampsOf } from './case-stamps.ts'
import type { LoadedCases, Present } from './loaded-cases.ts'

/** What is in memory of each case. */
export interface Listed {
  stamps: string
  /** Null until it is asked for. */
  row: TriageRow | null
  runs: readonly FinishedRun[]
  parent: string | null
}

const NO_RUNS: readonly FinishedRun[] = []

export function listedOf(entry: CaseEntry): Listed {
  const { parent } = entry.file.value
  return {
    stamps: stampsOf(entry),
    row: null,
    runs: NO_RUNS,
    parent: copied(parent),
  }
}

/** Sets what follows from the whole case. */
export function complete(listed: Listed, cases: LoadedCases, loaded: Present): TriageRow {
  const folder = cases.folder(loaded)
  const json = cases.caseJson(loaded)
  const row = triageRow(folder, json)
  const runs = finishedRuns(folder.sessions)
  loaded.json ??= JSON.stringify(json)
  listed.row = copied(row)
  listed.runs = runs.length > 0 ? copied(runs) : NO_RUNS
  return listed.row
}

/** Returns a copy with new strings, because a substring keeps the whole text in memory. */
function copied<T>(value: T): T {
  return JSON.parse(JSON.stringify(value))
}

export function encodeListed({ row, runs, parent }: Listed): string {
  return JSON.stringify({ row, runs, parent })
}
