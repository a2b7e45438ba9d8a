import { type CaseContents, shownState } from './case-contents.ts'
import { type CaseValues, FIELD_LIST } from './case-fields.ts'
import type { Problem } from './problem.ts'

/** A case in API responses. The order of keys is part of the API. */
export interface CaseJson extends CaseValues {
  id: string
  created_at: string
  updated_at: string
  problems: Problem[]
}

/** Serializes a case. `mtimeMs` is the mtime of case.md; 0 if it is missing. */
export function caseJson(contents: CaseContents, mtimeMs: number): CaseJson {
  const { case: present, problems } = contents
  const values = FIELD_LIST.map(({ name }) => [name, present[name]])
  return {
    id: present.id,
    ...(Object.fromEntries(values) as CaseValues),
    state: shownState(contents),
    created_at: present.created_at,
    updated_at: laterOf(new Date(mtimeMs).toISOString(), present.created_at),
    problems,
  }
}

/** File times may lag a tick behind the clock. `updated_at` must not be before `created_at`. */
function laterOf(a: string, b: string): string {
  return a > b ? a : b
}
