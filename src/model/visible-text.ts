import { HIDDEN_CHARACTERS } from './hidden-characters.ts'

/**
 * Text of others for a terminal: what would move the cursor, colour, hide or turn around what is
 * shown stands there as an escape, such as `\u{1b}`. For what the reader decides by; see `plainText`
 * for what he only reads.
 */
export function visibleText(text: string): string {
  return text.replace(
    HIDDEN_CHARACTERS,
    (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`,
  )
}
