import { HIDDEN_CHARACTERS } from '../model/visible-text.ts'

/**
 * Pure. For what a reader decides by, as code that will run, sources, changes and names: shows all that
 * he would not see or would see elsewhere, as the terminal does. Control characters stand as their
 * pictures (a CR as ␍), others as `[U+202E]`. Tabs and line feeds stay.
 */
export function visibleText(text: string): string {
  return text.replace(HIDDEN_CHARACTERS, shown)
}

/**
 * Pure. The same for what programs print, which is full of signs that are no text: variants of
 * emoji, blanks of one width and signs of private fonts stay.
 */
export function visibleOutput(text: string): string {
  return text.replace(UNSEEN, shown)
}

/**
 * Pure. The same for prose, where joiners and marks of direction have their use: it shows only what
 * reverses text, and the invisible letters that a program reads and a person does not.
 */
export function visibleProse(text: string): string {
  return text.replace(/[\u202d\u202e\u{e0000}-\u{e007f}]/gu, shown)
}

const UNSEEN =
  /[\0-\x08\x0b-\x1f\x7f-\x9f\u200b\u2028-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e007f}]/gu

function shown(character: string): string {
  if (character === '\t' || character === '\n') return character
  const code = character.codePointAt(0)!
  if (code < 0x20) return String.fromCharCode(0x2400 + code)
  if (code === 0x7f) return '␡'
  return `[U+${code.toString(16).toUpperCase().padStart(4, '0')}]`
}
