import { hash } from 'node:crypto'

/**
 * The id of the case for an origin. Repeated imports, even in two clones that git merges later, give the same case.
 */
export function caseIdFor(origin: string): string {
  const digits = [...hash('sha256', origin).slice(0, 32)]
  digits[12] = '4' // the form of a UUID v4, as every id of a case has it
  digits[16] = '89ab'[Number.parseInt(digits[16]!, 16) % 4]!
  return digits.join('').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
