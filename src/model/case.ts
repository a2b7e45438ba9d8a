import type { CaseFields, CaseValues } from './case-fields.ts'
import type { ChecklistItem } from './gate.ts'

/** What `case.md` says. `state` is the written one: see `shownState` for the one that is shown. */
export interface Case extends CaseValues {
  id: string
  created_at: string
  checklist: ChecklistItem[]
}

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
