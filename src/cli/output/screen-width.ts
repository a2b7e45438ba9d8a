import { stripVTControlCharacters } from 'node:util'
import { eastAsianWidth } from 'get-east-asian-width'

/** Characters as a reader sees them, so that an emoji or an accent is never split. */
const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' })

const ASCII = /^[ -~]*$/
const INVISIBLE =
  /^[\p{Default_Ignorable_Code_Point}\p{Control}\p{Format}\p{Nonspacing_Mark}\p{Enclosing_Mark}\p{Surrogate}]+$/u
/** Not \p{RGI_Emoji}: building that set takes longer than everything else before a command runs. */
const EMOJI = /\p{Emoji_Presentation}|\p{Emoji}\uFE0F/u
const COLOUR = /(\x1b\[[\d;]*m)/
/** Combining marks that take a column. */
const SPACING_MARKS = /(?<!^)[\p{Spacing_Mark}\uFF9E\uFF9F]/gu

/** The width of a text on the screen in columns; escape sequences of colours do not count. */
export function stringWidth(text: string): number {
  if (ASCII.test(text)) return text.length
  let width = 0
  for (const { segment } of graphemes.segment(stripVTControlCharacters(text)))
    width += graphemeWidth(segment)
  return width
}

function graphemeWidth(grapheme: string): number {
  if (INVISIBLE.test(grapheme)) return 0
  if (EMOJI.test(grapheme)) return 2
  const marks = grapheme.match(SPACING_MARKS)?.length ?? 0
  return eastAsianWidth(grapheme.codePointAt(0)!) + marks
}

/** The beginning of a text that fits in this many columns. */
export function cutTo(text: string, width: number): string {
  if (stringWidth(text) <= width) return text
  return width > 0 ? `${width > 1 ? brokenAt(text, width - 1)[0] : ''}…` : ''
}

/** A text in pieces that are at most this wide, or one character; sequences of colours are never cut. */
export function brokenAt(text: string, width: number): string[] {
  const pieces: string[] = []
  let piece = ''
  let used = 0
  for (const unit of unitsOf(text)) {
    const wide = stringWidth(unit)
    if (used > 0 && used + wide > width) {
      pieces.push(piece)
      piece = ''
      used = 0
    }
    piece += unit
    used += wide
  }
  return [...pieces, piece]
}

function* unitsOf(text: string): Iterable<string> {
  for (const [index, part] of text.split(COLOUR).entries()) {
    if (index % 2 === 1) yield part
    else if (ASCII.test(part)) yield* part
    else for (const { segment } of graphemes.segment(part)) yield segment
  }
}
