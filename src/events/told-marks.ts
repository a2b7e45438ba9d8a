import type { CaseFacts } from '../model/case-facts.ts'
import type { CaseFolder } from '../model/case-folder.ts'
import { UUID } from '../model/words.ts'
import type { CaseEntry } from '../workspace/case-entry.ts'
import { factsOf } from '../workspace/facts.ts'

/** Each kind of facts that grows with the case has a mark of its own, beside that of the case itself. */
const PARTS = ['proofs', 'sessions', 'notes'] as const

/** The marks that hold a case's facts, as JSON text; null for one that is not needed. */
export function marksOf(caseId: string, facts: CaseFacts | null): Record<string, string | null> {
  const texts = textsOf(facts)
  return Object.fromEntries(keysOf(caseId).map((key, index) => [key, texts[index] ?? null]))
}

/** The same without their keys, in the order of `keysOf`. */
function textsOf(facts: CaseFacts | null): (string | null)[] {
  if (!facts) return [null, ...PARTS.map(() => null)]
  const { state, fields, problems, files } = facts
  const ofParts = PARTS.map((part) => (isEmpty(facts[part]) ? null : JSON.stringify(facts[part])))
  return [JSON.stringify({ state, fields, problems, files }), ...ofParts]
}

function isEmpty(facts: object): boolean {
  for (const _ in facts) return false
  return true
}

/** The facts that were told last of a case; null when none were. */
export function factsIn(marks: ReadonlyMap<string, unknown>, caseId: string): CaseFacts | null {
  const core = parsed(marks.get(caseId))
  if (!core) return null
  const parts = PARTS.map((part) => [part, parsed(marks.get(`${caseId} ${part}`)) ?? {}])
  return { ...core, ...Object.fromEntries(parts) }
}

/** All marks of a case that can be read, in one text. */
export function toldOfCase(entry: CaseEntry, folder: CaseFolder): string {
  return JSON.stringify(textsOf(factsOf(entry, folder, null)))
}

/** The same of marks that are there. */
export function toldIn(marks: ReadonlyMap<string, string>, caseId: string): string {
  return JSON.stringify(keysOf(caseId).map((key) => marks.get(key) ?? null))
}

/** The marks that such a text holds, but for those that are not needed. */
export function marksInText(caseId: string, text: string): [key: string, mark: string][] {
  const values = JSON.parse(text) as (string | null)[]
  return keysOf(caseId)
    .map((key, index): [string, string | null] => [key, values[index] ?? null])
    .filter((each): each is [string, string] => each[1] !== null)
}

export function keysOf(caseId: string): string[] {
  return [caseId, ...PARTS.map((part) => `${caseId} ${part}`)]
}

export function caseIdsIn(marks: ReadonlyMap<string, unknown>): string[] {
  return [...marks.keys()].filter((key) => UUID.test(key))
}

function parsed(text: unknown) {
  return typeof text === 'string' ? JSON.parse(text) : null
}
