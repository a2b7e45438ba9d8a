/**
 * Text of others for a terminal: what would move the cursor, colour, hide or turn around what is
 * shown is replaced by an escape, such as `\u{1b}`. For what the reader decides by; see `plainText`
 * for what he only reads.
 */
export function visibleText(text: string): string {
  return text.replace(
    HIDDEN_CHARACTERS,
    (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`,
  )
}

/**
 * What a reader does not see, or sees elsewhere than it stands: controls, invisible and format characters, line and
 * paragraph ends, blanks other than the space. Both consoles show these where he decides by a text.
 */
export const HIDDEN_CHARACTERS = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]|(?! )\p{Zs}/gu
