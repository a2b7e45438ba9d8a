import { HIDDEN_CHARACTERS } from '../model/visible-text.ts'

/**
 * Pure. For text that people judge (code that will run, sources, changes, names): makes every character visible that
 * they would miss or see in another place. Control characters become symbols (a CR becomes ␍), others `[U+202E]`. Tabs
 * and line feeds stay.
 */
export function visibleText(text: string): string {
  return text.replace(HIDDEN_CHARACTERS, shown)
}

/**
 * Pure. The same for output of programs, where variants of emoji, fixed-width spaces and icons of private fonts are
 * common: these stay.
 */
export function visibleOutput(text: string): string {
  return text.replace(UNSEEN, shown)
}

/**
 * Pure. The same for prose, which needs joiners and direction marks. Shows only characters that reverse text, and
 * invisible letters that a program reads and a person does not.
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
