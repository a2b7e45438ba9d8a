import { type CaseValues, FIELD_LIST } from './case-fields.ts'
import { type CaseFolder, shownState } from './case-folder.ts'
import type { Problem } from './problem.ts'

/** A case as requests are answered. Key order is part of the interface. */
export interface CaseJson extends CaseValues {
  id: string
  created_at: string
  updated_at: string
  problems: Problem[]
}

/** `mtimeMs`: that of case.md, 0 where it is missing. */
export function caseJson(folder: CaseFolder, mtimeMs: number): CaseJson {
  const { case: present, problems } = folder
  const values = FIELD_LIST.map(({ name }) => [name, present[name]])
  return {
    id: present.id,
    ...(Object.fromEntries(values) as CaseValues),
    state: shownState(folder),
    created_at: present.created_at,
    updated_at: laterOf(new Date(mtimeMs).toISOString(), present.created_at),
    problems,
  }
}

/** The kernel's clock for files may lag a tick behind ours: nothing is updated before it was made. */
function laterOf(a: string, b: string): string {
  return a > b ? a : b
}
