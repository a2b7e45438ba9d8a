import type { CaseState } from './case-state.ts'
import { countsAsVerified, type Proof } from './proof.ts'
import { type ObjectionCode, objectionTo } from './proof-objections.ts'
import type { Session } from './session.ts'

export interface ChecklistItem {
  description: string
  /** The required proof type; null if the line does not name one. */
  type: string | null
  required: boolean
  /** The box in the file, ticked by people, or when the case is resolved. The gate ignores it. */
  checked: boolean
}

export interface GateItem extends ChecklistItem {
  /** The verified proof of this type that supports its claim; null if there is none. */
  satisfied_by: string | null
}

/** A proof that does not count, and why. */
export interface GateObjection {
  id: string
  type: string
  code: ObjectionCode | 'not_verified'
  reason: string
}

export interface Gate {
  open: boolean
  /** Number of proofs that are verified and support their claim. */
  verified: number
  items: GateItem[]
  /** One phrase for each missing thing; empty if the gate is open. */
  missing: string[]
  /** The proofs that do not count, newest last. */
  objections: GateObjection[]
}

type Objected = GateObjection & { remedy: string }

/**
 * Evaluates the proof gate. RESOLVED requires at least one proof that is verified and supports its claim, and such a
 * proof of the right type for each required checklist item. One proof may serve several items.
 */
export function proofGate(
  checklist: readonly ChecklistItem[],
  proofs: readonly Proof[],
  sessions: readonly Session[],
): Gate {
  const objected = proofs.map((proof) => ({ proof, objection: objectionIn(proof, sessions) }))
  const counting = objected.filter(({ objection }) => !objection).map(({ proof }) => proof)
  const objections = objected.flatMap(({ objection }) => objection ?? [])
  const items = checklist.map((item) => ({
    ...item,
    satisfied_by: counting.find((proof) => proof.type === item.type)?.id ?? null,
  }))
  const missing = items
    .filter((item) => item.required && !item.satisfied_by)
    .map(({ type, description }) => {
      if (type === null) {
        return `a proof type for "${description}" in case.md (see the problems of the case)`
      }
      const ofType = objections.filter((each) => each.type === type)
      return `a verified proof of type ${type} for "${description}"${whyNone(ofType)}`
    })
  // an objection is listed once, at the item that needs the proof
  const named = new Set(items.filter((item) => item.required).map((item) => item.type))
  const others = objections.filter(({ type }) => !named.has(type))
  if (counting.length === 0) missing.unshift(`at least one verified proof${whyNone(others)}`)
  return {
    open: missing.length === 0,
    verified: counting.length,
    items,
    missing,
    objections: objections.map(({ id, type, code, reason }) => ({ id, type, code, reason })),
  }
}

function objectionIn(proof: Proof, sessions: readonly Session[]): Objected | null {
  const { id, type } = proof
  const objection = objectionTo(proof, sessions)
  if (objection) {
    const { code, text, remedy } = objection
    return { id, type, code, reason: text, remedy }
  }
  if (countsAsVerified(proof)) return null
  return { id, type, code: 'not_verified', reason: 'it is not verified', remedy: 'verify it' }
}

const MAX_REASONS = 3

/** Explains why no proof counts, newest first. Proofs that only wait for verification are left out. */
function whyNone(objections: readonly Objected[]): string {
  const notable = objections.filter(({ code }) => code !== 'not_verified').reverse()
  if (notable.length === 0) return ''
  const reasons = notable
    .slice(0, MAX_REASONS)
    .map(({ id, reason }) => `proof ${id.slice(0, 8)}: ${reason}`)
  const more = notable.length - reasons.length
  const suffix = more > 0 ? `; and ${more} more` : ''
  return ` (${reasons.join('; ')}${suffix}. To continue, ${notable[0]!.remedy})`
}

/** Returns VERIFYING for a file that says RESOLVED while the gate is shut. */
export function reportedState(written: CaseState, gate: Gate): CaseState {
  return written === 'RESOLVED' && !gate.open ? 'VERIFYING' : written
}
