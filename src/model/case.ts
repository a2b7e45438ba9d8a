import type { CaseState } from './case-state.ts'
import type { ChecklistItem } from './gate.ts'

/** What `case.md` says. `state` is the written one: see `reportedState` for the one that is shown. */
export interface Case {
  id: string
  title: string
  created_at: string
  state: CaseState
  type: string
  outcome: string | null
  tags: string[]
  parent: string | null
  reason: string | null
  workdir: string | null
  provider: string | null
  description: string
  checklist: ChecklistItem[]
}

export const DEFAULT_CASE_TYPE = 'bug'

/** The frontmatter keys of a case in the order in which they are written. */
export const CASE_KEYS = [
  'id',
  'title',
  'created_at',
  'state',
  'type',
  'outcome',
  'tags',
  'parent',
  'reason',
  'workdir',
  'provider',
] as const

/** The keys that a new file always has, so that a value that changes has a constant neighbour. */
export const CONSTANT_CASE_KEYS: readonly (keyof Case)[] = CASE_KEYS.slice(0, 7)

export type CaseField = (typeof CASE_KEYS)[number]
export type CaseFields = Partial<Pick<Case, CaseField | 'description'>>

/** A change of `case.md`: only what is named is touched. */
export interface CaseEdit {
  fields?: CaseFields
  addItem?: { description: string; type: string; required: boolean }
}

/** The fields of `wanted` that differ from what the case has; null when none does. */
export function changedFields(present: Case, wanted: CaseFields): CaseFields | null {
  const changed = Object.entries(wanted).filter(
    ([key, value]) => JSON.stringify(present[key as keyof Case]) !== JSON.stringify(value),
  )
  return changed.length ? (Object.fromEntries(changed) as CaseFields) : null
}
