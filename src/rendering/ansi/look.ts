import { type AnsiLine, ansiLines } from './lines.ts'
import type { AnsiColor, AnsiStyle } from './style.ts'

/** `color` and `background`, as `rgb(255, 0, 0)`, are set by script, for colours that have no class. */
export interface AnsiLook {
  classes: string[]
  color?: string
  background?: string
}

/**
 * Pure. The look of a style on a page: `bold`, `fg-0` to `fg-15`, `bg-0` to `bg-15`. Inverse text has its colours
 * exchanged, with `inverse` in place of a colour that it lacks. Text in the colour of its background would be
 * invisible, so both colours are dropped.
 */
export function lookOf(style: AnsiStyle): AnsiLook {
  const look: AnsiLook = { classes: [...style.marks] }
  const [front, back] = colorsOf(style)
  if (typeof front === 'number' && front < 16) look.classes.push(`fg-${front}`)
  else if (front !== null) look.color = `rgb(${rgbOf(front).join(', ')})`
  if (typeof back === 'number' && back < 16) look.classes.push(`bg-${back}`)
  else if (back !== null) look.background = `rgb(${rgbOf(back).join(', ')})`
  return look
}

/** Pure. Like `lookOf` with classes only: other colours become the nearest of the 16. */
export function classesOf(style: AnsiStyle): string[] {
  const [front, back] = colorsOf(style)
  const findIntendedFrontmatter = front === null ? null : nearest(front)
  const nearBack = back === null ? null : nearest(back)
  const marks: string[] = [...style.marks]
  if (findIntendedFrontmatter !== null && findIntendedFrontmatter === nearBack) return marks
  if (findIntendedFrontmatter !== null) marks.push(`fg-${findIntendedFrontmatter}`)
  if (nearBack !== null) marks.push(`bg-${nearBack}`)
  return marks
}

function colorsOf({
  foreground,
  background,
  marks,
}: AnsiStyle): [AnsiColor | null, AnsiColor | null] {
  if (foreground !== null && background !== null) {
    if (rgbOf(foreground).join() === rgbOf(background).join()) return [null, null]
  }
  return marks.includes('inverse') ? [background, foreground] : [foreground, background]
}

type Rgb = readonly [number, number, number]

const BASE: readonly Rgb[] = [
  [0, 0, 0],
  [187, 0, 0],
  [0, 187, 0],
  [187, 187, 0],
  [0, 0, 187],
  [187, 0, 187],
  [0, 187, 187],
  [204, 204, 204],
  [85, 85, 85],
  [255, 85, 85],
  [85, 255, 85],
  [255, 255, 85],
  [85, 85, 255],
  [255, 85, 255],
  [85, 255, 255],
  [255, 255, 255],
]
const LEVELS = [0, 95, 135, 175, 215, 255]

/** The palette: 16 base colours, a cube of 6 levels each, 24 greys. */
function rgbOf(color: AnsiColor): Rgb {
  if (typeof color === 'string') return color.split(',').map(Number) as unknown as Rgb
  if (color < 16) return BASE[color]!
  if (color >= 232) {
    const level = 8 + (color - 232) * 10
    return [level, level, level]
  }
  const at = color - 16
  return [LEVELS[Math.floor(at / 36)]!, LEVELS[Math.floor(at / 6) % 6]!, LEVELS[at % 6]!]
}

function nearest(color: AnsiColor): number {
  if (typeof color === 'number' && color < 16) return color
  const rgb = rgbOf(color)
  const distances = BASE.map((base) => base.reduce((sum, x, i) => sum + (x - rgb[i]!) ** 2, 0))
  return distances.indexOf(Math.min(...distances))
}

/**
 * Pure. Terminal output as safe HTML for a `<pre>`: plain text, and a `<span>` for each styled run. Line ends stay, so
 * that copying it gives plain text.
 */
export function ansiHtml(text: string): string {
  return ansiLines(text).map(lineHtml).join('')
}

/** Pure. One line, with its line end. */
export function lineHtml({ runs, wrapped }: AnsiLine): string {
  const html = runs.map(({ text, style }) => {
    const classes = classesOf(style).join(' ')
    return classes === '' ? escaped(text) : `<span class="${classes}">${escaped(text)}</span>`
  })
  return html.join('') + (wrapped ? '' : '\n')
}

const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/** Pure. Text for HTML, also in attributes with double quotes. */
export function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (character) => ESCAPES[character]!)
}
