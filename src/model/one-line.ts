/** The most characters of a provider's name, and of a setting that is one line, such as `tests`. */
export const MAX_PROVIDER = 100
export const MAX_SETTING = 1000

/** Counts characters as JSON Schema does: a surrogate pair is one. */
export function isUpTo(max: number, text: string): boolean {
  return text.length <= max || [...text].length <= max
}

/** What is wrong with a text that should be one line; null if nothing is. */
export function lineFault(text: string, max: number): string | null {
  if (!isUpTo(max, text)) return `expected at most ${max} characters`
  if (!/\S/.test(text)) return 'expected a text, not only white space'
  if (/[\p{Cc}\u2028\u2029]/u.test(text)) return 'expected one line without control characters'
  return null
}
