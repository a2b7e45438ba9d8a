/** Controls, invisible and format characters, line and paragraph ends, blanks other than the space. */
const HIDDEN = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]|(?! )\p{Zs}/gu

/**
 * Text of others for a terminal: what would move the cursor, colour, hide or turn around what is
 * shown stands there as an escape, such as `\u{1b}`. For what the reader decides by; see `plainText`
 * for what he only reads.
 */
export function visibleText(text: string): string {
  return text.replace(HIDDEN, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`)
}
