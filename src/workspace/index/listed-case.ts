import { type TriageRow, triageRow } from '../../model/triage-row.ts'
import type { CaseEntry } from '../case-entry.ts'
import { stampsOf } from './case-stamps.ts'
import type { LoadedCases, Present } from './loaded-cases.ts'

/** What is in memory of each case. */
export interface Listed {
  stamps: string
  /** Null until it is asked for. */
  row: TriageRow | null
  parent: string | null
}

export function listedOf(entry: CaseEntry): Listed {
  const { parent } = entry.file.value
  return {
    stamps: stampsOf(entry),
    row: null,
    parent: copied(parent),
  }
}

/** Sets what follows from the whole case. */
export function complete(listed: Listed, cases: LoadedCases, loaded: Present): TriageRow {
  const contents = cases.folder(loaded)
  const json = cases.caseJson(loaded)
  const row = triageRow(contents, json)
  loaded.json ??= JSON.stringify(json)
  listed.row = copied(row)
  return listed.row
}

/** Returns a copy with new strings, because a substring keeps the whole text in memory. */
function copied<T>(value: T): T {
  return JSON.parse(JSON.stringify(value))
}

export function encodeListed({ row, parent }: Listed): string {
  return JSON.stringify({ row, parent })
}
