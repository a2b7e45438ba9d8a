import width from 'string-width'

/** Characters as a reader sees them, so that an emoji or an accent is never torn apart. */
const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' })

const ASCII = /^[ -~]*$/

/** How many columns a text takes on the screen. */
export function stringWidth(text: string): number {
  return ASCII.test(text) ? text.length : width(text)
}

/** As much of a text as fits into so many columns. */
export function cutTo(text: string, width: number): string {
  if (stringWidth(text) <= width) return text
  if (ASCII.test(text)) return width > 0 ? `${text.slice(0, width - 1)}…` : ''
  let shown = ''
  let used = 0
  for (const { segment } of graphemes.segment(text)) {
    const wide = stringWidth(segment)
    if (used + wide > width - 1) break
    shown += segment
    used += wide
  }
  return width > 0 ? `${shown}…` : ''
}
