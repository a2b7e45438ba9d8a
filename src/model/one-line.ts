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

/** Replaces line breaks in a text. */
export const LINE_BREAK = ' ⏎ '

/** Control characters and characters that change text direction, which would disguise a line. */
const UNSEEN = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/gu

export function oneLine(text: string): string {
  return text
    .toWellFormed()
    .trim()
    .replace(/(?<![ \t])[ \t]*(?:\r\n?|[\n\v\f\u0085\u2028\u2029])\s*/g, LINE_BREAK)
    .replaceAll('\t', ' ')
    .replace(UNSEEN, '')
    .trim()
}

/** The text with a capital letter at its beginning. */
export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** Cuts a text, and never within a character. */
export function bounded(text: string, most: number): string {
  if (text.length <= most) return text
  const end = Math.max(most - 1, 0)
  return `${text.slice(0, isWithin(text, end) ? end - 1 : end)}…`
}

/** Whether the place is within a character of two code units. */
export function isWithin(text: string, place: number): boolean {
  return text.codePointAt(place - 1)! > 0xffff
}
