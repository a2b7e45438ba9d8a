import { isSameItem } from './baseline.ts'
import { type Case, type CaseFields, changedFields, DEFAULT_CASE_TYPE } from './case.ts'
import { type CaseFolder, type Edit, gateOf } from './case-folder.ts'
import type { CaseState } from './case-state.ts'
import type { ChecklistItem } from './gate.ts'
import { Refusal } from './refusal.ts'

export function newCase(wanted: CaseFields & { title: string }, id: string, now: string): Case {
  return {
    id,
    title: wanted.title,
    created_at: now,
    state: 'OPEN',
    type: wanted.type ?? DEFAULT_CASE_TYPE,
    outcome: wanted.outcome ?? null,
    tags: wanted.tags ?? [],
    parent: wanted.parent ?? null,
    reason: null,
    workdir: wanted.workdir ?? null,
    provider: wanted.provider ?? null,
    description: wanted.description ?? '',
    checklist: [],
  }
}

export function updateCase(folder: CaseFolder, wanted: CaseFields): Edit[] {
  const fields = changedFields(folder.case, wanted)
  return fields ? [{ file: 'case', edit: { fields } }] : []
}

/** Sets any state from any other, except that RESOLVED passes the proof gate. */
export function setState(
  folder: CaseFolder,
  wanted: {
    state: CaseState
    outcome?: string | null | undefined
    reason?: string | null | undefined
  },
): Edit[] {
  const gate = gateOf(folder)
  if (wanted.state === 'RESOLVED' && !gate.open) {
    throw new Refusal(
      'proof_gate',
      `The proof gate is shut: this case still needs ${gate.missing.join(', and ')}. Attach proof (POST /cases/${folder.case.id}/proof) and verify it (PUT …/proof/:pid/verify).`,
      { extra: { missing: gate.missing, gate } },
    )
  }
  const { state, outcome, reason } = wanted
  const edits = updateCase(folder, {
    state,
    ...(outcome === undefined ? {} : { outcome }),
    ...(reason === undefined ? {} : { reason }),
  })
  const [edit] = edits
  if (!folder.ignored.some(({ kind }) => kind === 'state')) return edits
  // case.md has another state, or this very one, which is confirmed so
  const others = edit?.file === 'case' ? edit.edit.fields : {}
  return [{ file: 'case', edit: { fields: { ...others, state } } }]
}

/**
 * Adds a checklist item; one that says the same already is refused, so that a repeat adds nothing. One
 * that counts, but is gone from the file, comes back so.
 */
export function addItem(
  folder: CaseFolder,
  item: Pick<ChecklistItem, 'description' | 'required'> & { type: string },
): Edit[] {
  const isThere = folder.case.checklist.some((each) => isSameItem(each, item))
  const isGone = folder.ignored.some(
    ({ kind, was }) => kind === 'checklist' && isSameItem(was, item),
  )
  if (isThere && !(isGone && item.required)) {
    throw new Refusal(
      'already_exists',
      `The checklist has "${item.description}" (${item.type}) already.`,
    )
  }
  return [{ file: 'case', edit: { addItem: item } }]
}
