import { stripVTControlCharacters } from 'node:util'
import { eastAsianWidth } from 'get-east-asian-width'

/** Characters as a reader sees them, so that an emoji or an accent is never split. */
const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' })

const ASCII = /^[ -~]*$/
const INVISIBLE =
  /^[\p{Default_Ignorable_Code_Point}\p{Control}\p{Format}\p{Nonspacing_Mark}\p{Enclosing_Mark}\p{Surrogate}]+$/u
/** Not \p{RGI_Emoji}: building that set takes longer than everything else before a command runs. */
const EMOJI = /\p{Emoji_Presentation}|\p{Emoji}\uFE0F/u
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
  if (ASCII.test(text)) return width > 0 ? `${text.slice(0, width - 1)}…` : ''
  let shown = ''
  let used = 0
  for (const { segment } of graphemes.segment(text)) {
    const wide = graphemeWidth(segment)
    if (used + wide > width - 1) break
    shown += segment
    used += wide
  }
  return width > 0 ? `${shown}…` : ''
}
