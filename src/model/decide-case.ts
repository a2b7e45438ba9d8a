import { AppError } from './app-error.ts'
import { type Case, changedFields } from './case.ts'
import { type CaseContents, type Edit, gateOf } from './case-contents.ts'
import {
  type CaseFields,
  type CaseValues,
  emptyValue,
  FIELD_LIST,
  type SettableFields,
} from './case-fields.ts'
import type { CaseState } from './case-state.ts'
import { isSameItem } from './frozen-values.ts'
import type { ChecklistItem } from './gate.ts'

interface NewItem {
  description: string
  type: string
  required?: boolean | undefined
}

export function newCase(
  wanted: SettableFields & { title: string },
  id: string,
  created_at: string,
  checklist: readonly NewItem[] = [],
): Case {
  const given: CaseFields = wanted
  const values = FIELD_LIST.map((field) => [field.name, given[field.name] ?? emptyValue(field)])
  return {
    id,
    created_at,
    ...(Object.fromEntries(values) as CaseValues),
    checklist: checklist.map(({ description, type, required = false }) => ({
      description,
      type,
      required,
      checked: false,
    })),
  }
}

/** Throws `bad_request` if the case would be its own parent. */
export function updateCase(contents: CaseContents, wanted: CaseFields): Edit[] {
  if (wanted.parent === contents.case.id) {
    const message = 'expected another case; a case cannot be its own parent'
    const errors = [{ path: 'parent', message }]
    throw new AppError('bad_request', `parent: ${message}.`, { errors })
  }
  const fields = changedFields(contents.case, wanted)
  return fields ? [{ file: 'case', edit: { fields } }] : []
}

/**
 * Changes the state, and other fields with it. Any change is allowed, except that RESOLVED requires an open proof gate.
 */
export function setState(contents: CaseContents, state: CaseState, others: CaseFields): Edit[] {
  const gate = gateOf(contents)
  if (state === 'RESOLVED' && !gate.open) {
    throw new AppError(
      'proof_gate',
      `The proof gate is shut. This case still needs ${gate.missing.join(', and ')}. Attach proof (POST /cases/${contents.case.id}/proof) and verify it (PUT …/proof/:pid/verify).`,
      { extra: { missing: gate.missing, gate } },
    )
  }
  const edits = updateCase(contents, { ...others, state })
  const [edit] = edits
  // so that a reader of the file, as on GitHub, sees what was proved
  const proved = state === 'RESOLVED' ? gate.items.filter((item) => item.satisfied_by) : []
  const ticks = proved.length > 0 ? { tick: proved } : {}
  if (edit?.file === 'case') edit.edit = { ...edit.edit, ...ticks }
  const isUnread = contents.problems.some(
    ({ code, file }) => code === 'unknown_state' && file === 'case.md',
  )
  if (!isUnread && !contents.ignored.some(({ kind }) => kind === 'state')) return edits
  // also if it seems to have this state already: the write confirms it, or fails because of the file
  const fields = edit?.file === 'case' ? edit.edit.fields : {}
  return [{ file: 'case', edit: { fields: { ...fields, state }, ...ticks } }]
}

/**
 * Adds a checklist item. Throws `already_exists` for an identical item, so that a repeated request adds nothing. A
 * required item that was removed from the file during a run is added again.
 */
export function addItem(
  contents: CaseContents,
  item: Pick<ChecklistItem, 'description' | 'required'> & { type: string },
): Edit[] {
  const exists = contents.case.checklist.some((each) => isSameItem(each, item))
  const wasRemoved = contents.ignored.some(
    ({ kind, was }) => kind === 'checklist' && isSameItem(was, item),
  )
  if (exists && !(wasRemoved && item.required)) {
    throw new AppError(
      'already_exists',
      `The checklist already has "${item.description}" (${item.type}).`,
    )
  }
  return [{ file: 'case', edit: { addItem: item } }]
}
