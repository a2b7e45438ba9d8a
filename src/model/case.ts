import type { CaseFields, CaseValues } from './case-fields.ts'
import type { ChecklistItem } from './gate.ts'

/** The contents of case.md. `state` is the written state; `shownState` returns the one that is shown. */
export interface Case extends CaseValues {
  id: string
  created_at: string
  checklist: ChecklistItem[]
}

/** A change of case.md. Only the given fields change. */
export interface CaseEdit {
  fields?: CaseFields
  addItem?: { description: string; type: string; required: boolean }
  /** The checklist items whose boxes are ticked. */
  tick?: readonly ChecklistItem[]
}

/** Returns the fields of `wanted` that differ from the case; null if none does. */
export function changedFields(present: Case, wanted: CaseFields): CaseFields | null {
  const changed = Object.entries(wanted).filter(
    ([key, value]) => JSON.stringify(present[key as keyof Case]) !== JSON.stringify(value),
  )
  return changed.length ? (Object.fromEntries(changed) as CaseFields) : null
}
