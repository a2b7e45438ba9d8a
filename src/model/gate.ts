import type { CaseState } from './case-state.ts'
import { countsAsVerified, type Proof } from './proof.ts'
import type { Session } from './session.ts'
import { type ObjectionCode, objectionTo } from './support.ts'

export interface ChecklistItem {
  description: string
  /** The proof type that the item expects; null when the line names none. */
  type: string | null
  required: boolean
  /** The person's tick. The gate does not read it, and the service never sets it. */
  checked: boolean
}

export interface GateItem extends ChecklistItem {
  /** The verified proof of the item's type that supports it; null when there is none. */
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
  /** How many proofs are verified and support their claim. */
  verified: number
  items: GateItem[]
  /** One sentence for each thing that is still needed; empty when the gate is open. */
  missing: string[]
  /** The proofs that do not count, the newest last. */
  objections: GateObjection[]
}

type Objected = GateObjection & { remedy: string }

/**
 * The proof gate before RESOLVED: at least one proof that is verified and supports its claim, and for each
 * required checklist item one of its type. One proof may serve several items.
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
      const ofType = objections.filter((each) => each.type === type)
      return `a verified proof of type ${type} for "${description}"${whyNone(ofType)}`
    })
  // what is wrong with a proof is said where it is needed, and once
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

const MOST_REASONS = 3

/** The newest first; one that only waits to be verified is no surprise. */
function whyNone(objections: readonly Objected[]): string {
  const telling = objections.filter(({ code }) => code !== 'not_verified').reverse()
  if (telling.length === 0) return ''
  const reasons = telling
    .slice(0, MOST_REASONS)
    .map(({ id, reason }) => `proof ${id.slice(0, 8)}: ${reason}`)
  const more = telling.length - reasons.length
  const rest = more > 0 ? `; and ${more} more` : ''
  return ` (${reasons.join('; ')}${rest}. To go on, ${telling[0]!.remedy})`
}

/** A file that says RESOLVED while the gate is shut is reported as VERIFYING. */
export function reportedState(written: CaseState, gate: Gate): CaseState {
  return written === 'RESOLVED' && !gate.open ? 'VERIFYING' : written
}
