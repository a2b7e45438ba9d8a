/**
 * Escapes characters of untrusted text that could move the cursor, colour, hide or reverse what a terminal shows, for
 * example as `\u{1b}`. Use it where the reader decides by the text; `plainText` is for text that is only read.
 */
export function visibleText(text: string): string {
  return text.replace(
    HIDDEN_CHARACTERS,
    (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`,
  )
}

/**
 * Characters that are invisible or shown in the wrong place: control, invisible and format characters, line and
 * paragraph ends, and spaces other than the plain one.
 */
export const HIDDEN_CHARACTERS = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]|(?! )\p{Zs}/gu
