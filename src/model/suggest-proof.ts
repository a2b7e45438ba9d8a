/** What the operator can do next to open the gate of a case. */

import type { GateItem } from './gate.ts'

/** What is known of a gate, here or in an answer. */
interface GateFacts {
  verified: number
  items: readonly Pick<GateItem, 'type' | 'description' | 'required' | 'satisfied_by'>[]
  objections: readonly { type: string; code: string }[]
}

/** Something that can be attached as proof. */
export interface Offer {
  type: string
  /** Why it would not count; null if it would. */
  why_not: string | null
}

export interface Suggestion<Row> {
  row: Row
  /** The descriptions of the checklist items that it would meet. */
  items: string[]
}

/** A type of proof that the checklist asks for, and no proof has. */
export interface OpenType {
  type: string
  items: string[]
  required: boolean
}

const ANY = 'At least one verified proof'
/** Offered if the case has no proof, and its checklist asks for none. */
const USUAL_TYPES = ['test-log', 'log', 'diff']

/** The types that the checklist still needs, those of required items first. */
export function openTypes({ items }: GateFacts): OpenType[] {
  const open = new Map<string, OpenType>()
  for (const required of [true, false]) {
    for (const item of items) {
      const { type, description, satisfied_by } = item
      if (item.required !== required || type === null || satisfied_by !== null) continue
      const found = open.get(type)
      if (found) found.items.push(description)
      else open.set(type, { type, items: [description], required })
    }
  }
  return [...open.values()]
}

/** The items that a verified proof of a type would meet; none if it would bring the gate no nearer. */
export function itemsMetBy(type: string, gate: GateFacts): string[] {
  const open = openTypes(gate)
  const found = open.find((each) => each.type === type)
  if (found) return found.items
  return gate.verified === 0 && !open.some(({ required }) => required) ? [ANY] : []
}

/** Says which checklist items a proof meets, or would meet once it is verified: `meets: All tests pass`. */
export function meetsText(
  { id, type }: { id: string; type: string },
  verified: boolean,
  gate: GateFacts,
): string {
  const met = gate.items.filter((item) => item.satisfied_by === id)
  const items = met.map(({ description }) => description)
  const all = verified || items.length > 0 ? items : itemsMetBy(type, gate)
  if (all.length > 0) return `meets: ${all.join(', ')}`
  return verified ? '' : 'meets nothing that is missing'
}

/**
 * For each type that the gate still needs, and no proof waits for: the first of `rows` that would count, and what it
 * would meet. `rows` begins with the newest session. If any proof will do, tests that failed leave nothing to offer.
 */
export function suggestProof<Row extends Offer>(
  rows: readonly Row[],
  gate: GateFacts,
): Suggestion<Row>[] {
  const fitting = rows.filter(({ why_not }) => why_not === null)
  const found = openTypes(gate).flatMap(({ type, items }) => {
    const row = isAwaited(type, gate) ? undefined : fitting.find((each) => each.type === type)
    return row ? [{ row, items }] : []
  })
  if (found.length > 0 || !takesAny(gate) || failedTests(rows)) return found
  const row = USUAL_TYPES.flatMap((type) => fitting.find((each) => each.type === type) ?? [])[0]
  return row ? [{ row, items: [ANY] }] : []
}

/** What the gate requires, if nothing waits to be verified for it and nothing would count. */
export function unmetTypes(rows: readonly Offer[], gate: GateFacts): OpenType[] {
  if (takesAny(gate)) {
    return failedTests(rows) ? [{ type: 'test-log', items: [ANY], required: true }] : []
  }
  return openTypes(gate).filter(
    ({ type, required }) =>
      required &&
      !isAwaited(type, gate) &&
      !rows.some((row) => row.type === type && row.why_not === null),
  )
}

/** Whether a proof of a type waits to be verified. */
function isAwaited(type: string, { objections }: GateFacts): boolean {
  return objections.some((each) => each.type === type && each.code === 'not_verified')
}

/** Whether the first proof, of whatever type, is all that is missing. */
function takesAny(gate: GateFacts): boolean {
  const isWaiting = gate.objections.some(({ code }) => code === 'not_verified')
  return gate.verified === 0 && !isWaiting && !openTypes(gate).some(({ required }) => required)
}

/** Whether the newest tests do not count. */
function failedTests(rows: readonly Offer[]): boolean {
  return (rows.find(({ type }) => type === 'test-log')?.why_not ?? null) !== null
}

/** Says that no candidate would meet a type, why the newest one of it would not, and what would. */
export function unmetText(
  { type, items }: OpenType,
  rows: readonly (Offer & { artifact: string })[],
): string {
  const [newest] = rows.filter((row) => row.type === type)
  const why = newest?.why_not ? ` (${newest.artifact}: ${newest.why_not})` : ''
  const quoted = items.map((item) => `"${item}"`).join(', ')
  const what =
    type === 'test-log'
      ? `Run the tests ${why === '' ? 'in a step of a plan with proof=tap, junit, go or test' : 'again'}`
      : `Attach a proof of type ${type}`
  return `No candidate would meet ${quoted}${why}. ${what}, or accept a proof with a reason.`
}
