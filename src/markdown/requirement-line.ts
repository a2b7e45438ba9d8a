import { readItem } from './checklist-item.ts'

/** An item of the proof checklist, as the API takes it. */
export interface Requirement {
  description: string
  type: string
  required: boolean
}

/** What new cases usually ask for. */
export const USUAL_REQUIREMENTS = [
  'All tests pass (test-log, required)',
  'Seen in the browser (screenshot, required)',
  'Somebody else has read the change (operator-note, required)',
] as const

/**
 * Reads what somebody writes as proof of a new case: `All tests pass`, `Looks right (screenshot)` or
 * `Faster than before (benchmark, optional)`. It is required if it does not say that it is optional, and the type
 * follows from the words by `typeOf` if it is not given.
 */
export function parseRequirement(line: string, typeOf = typeFor): Requirement | null {
  const text = line.replace(/^\s*(?:[-*+]\s+)?(?:\[[ xX]\]\s+)?/, '').trim()
  if (text === '') return null
  const { description, type } = readItem(text, false)
  const isOptional = /[(,\s]optional\)$/i.test(text)
  const words = isOptional ? description.replace(/(?<!\s)\s*\(optional\)$/i, '') : description
  return {
    description: words,
    type: type ?? typeOf(words),
    required: !isOptional,
  }
}

export function parseRequirements(text: string): Requirement[] {
  const all = text.split('\n').flatMap((line) => parseRequirement(line) ?? [])
  return [...new Map(all.map((each) => [`${each.description}\0${each.type}`, each])).values()]
}

function typeFor(text: string): string {
  if (/\b(?:tests?|specs?|suite|ci)\b/i.test(text)) return 'test-log'
  if (/\b(?:screenshots?|screen|looks?|browser)\b/i.test(text)) return 'screenshot'
  if (/\b(?:faster|slower|benchmarks?|ms|seconds?)\b/i.test(text)) return 'benchmark'
  return 'operator-note'
}
