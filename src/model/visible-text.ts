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
 * paragraph ends, spaces other than the plain one, the Braille pattern without dots, and the sixth and further marks on
 * a letter, which would cover other lines.
 */
const HIDDEN =
  '[\\p{C}\\p{Zl}\\p{Zp}\\p{Default_Ignorable_Code_Point}\\u2800]|(?! )\\p{Zs}|(?<=[\\p{Mn}\\p{Me}]{5})[\\p{Mn}\\p{Me}]'
export const HIDDEN_CHARACTERS = new RegExp(HIDDEN, 'gu')

/**
 * Replaces the hidden characters of a text by what `mark` makes of them, except where people and programs write them
 * in good faith: spaces, emoji, and what a script needs between its letters. Only one of them at a time: a row could
 * be a message to a program.
 */
export function markHidden(text: string, mark: (character: string) => string): string {
  return text.replace(IN_GOOD_FAITH, (found, isUsual?: string) =>
    isUsual === undefined ? mark(found) : found,
  )
}

const EMOJI = '\\p{Extended_Pictographic}[\\ufe0e\\ufe0f\\p{Emoji_Modifier}]?'
/** England, Scotland and Wales, whose flags are spelled in invisible letters. */
const FLAG =
  '\\u{1f3f4}\\u{e0067}\\u{e0062}(?:\\u{e0065}\\u{e006e}\\u{e0067}|\\u{e0073}\\u{e0063}\\u{e0074}|\\u{e0077}\\u{e006c}\\u{e0073})\\u{e007f}'
const FROM_RIGHT = letters('Arab', 'Hebr', 'Syrc', 'Thaa', 'Nkoo')
const JOINED = letters(
  ...['Arab', 'Syrc', 'Nkoo', 'Mong', 'Deva', 'Beng', 'Guru', 'Gujr'],
  ...['Orya', 'Taml', 'Telu', 'Knda', 'Mlym', 'Sinh', 'Khmr'],
)
const USUAL = [
  '(?! )\\p{Zs}',
  FLAG,
  `${EMOJI}(?:\\u200d${EMOJI})*`,
  '[0-9#*]\\ufe0f\\u20e3',
  // the character first: to look back from every place would take time squared
  `[\\u200c\\u200d](?<=${JOINED}\\p{M}{0,4}.)(?!${HIDDEN})`,
  `[\\u200e\\u200f\\u061c](?<=${FROM_RIGHT}[\\p{M}\\p{P}]?.)(?!${HIDDEN})`,
  `[\\u180b-\\u180f](?<=${letters('Mong')}.)`,
  '(?<=[\\u2801-\\u28ff])\\u2800|\\u2800(?=[\\u2801-\\u28ff])',
]
const IN_GOOD_FAITH = new RegExp(`(${USUAL.join('|')})|${HIDDEN}`, 'gu')

/** A letter of these scripts; some of them have hidden characters of their own. */
function letters(...scripts: string[]): string {
  return `(?=\\p{L})[${scripts.map((script) => `\\p{scx=${script}}`).join('')}]`
}
