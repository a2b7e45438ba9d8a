import type { CaseState } from './case-state.ts'
import { countsAsVerified, type Proof } from './proof.ts'

export interface ChecklistItem {
  description: string
  /** The proof type that the item expects; null when the line names none. */
  type: string | null
  required: boolean
  /** The person's tick. The gate does not read it, and the service never sets it. */
  checked: boolean
}

export interface GateItem extends ChecklistItem {
  /** The verified proof of the item's type; null when there is none. */
  satisfied_by: string | null
}

export interface Gate {
  open: boolean
  verified: number
  items: GateItem[]
  /** One sentence for each thing that is still needed; empty when the gate is open. */
  missing: string[]
}

/**
 * The proof gate before RESOLVED: at least one verified proof, and for each required checklist item
 * a verified proof of its type. One proof may serve several items (design §3).
 */
export function proofGate(checklist: readonly ChecklistItem[], proofs: readonly Proof[]): Gate {
  const verified = proofs.filter(countsAsVerified)
  const items = checklist.map((item) => ({
    ...item,
    satisfied_by: verified.find((proof) => proof.type === item.type)?.id ?? null,
  }))
  const missing = items
    .filter((item) => item.required && !item.satisfied_by)
    .map(({ type, description }) =>
      type === null
        ? `a case.md that says which proof "${description}" needs (see the problems of the case)`
        : `a verified proof of type ${type} for "${description}"`,
    )
  if (verified.length === 0) missing.unshift('at least one verified proof')
  return { open: missing.length === 0, verified: verified.length, items, missing }
}

/** A file that says RESOLVED while the gate is shut is reported as VERIFYING (design §3). */
export function reportedState(written: CaseState, gate: Gate): CaseState {
  return written === 'RESOLVED' && !gate.open ? 'VERIFYING' : written
}
