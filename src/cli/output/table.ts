import { cutTo, stringWidth } from './screen-width.ts'

export interface Cell {
  text: string
  /** Used where the text does not fit. */
  short?: string
  /** Colours it; the width is that of `text`. */
  paint?: (text: string) => string
}

const GAP = 2
/** A column that is cut keeps at least so many characters. */
const LEAST = 12

/** A column, by its number, that may be cut to so many characters. */
export type Cut = readonly [column: number, least: number]

interface TableOptions {
  /** Columns of the screen; unbounded if not given. */
  width?: number
  /** What is cut, in this order, as far as there is no room. */
  cuts?: readonly Cut[]
}

/** Rows in columns, each as wide as its widest cell on the screen. Cut text ends with an ellipsis. */
export function table(rows: readonly (readonly Cell[])[], options: TableOptions = {}): string {
  const { width = Number.POSITIVE_INFINITY, cuts = [[0, LEAST]] } = options
  const columns = Math.max(0, ...rows.map((row) => row.length))
  const widths = Array.from({ length: columns }, (_, column) =>
    Math.max(...rows.map((row) => stringWidth(row[column]?.text ?? ''))),
  )
  for (const [column, least] of cuts) {
    const over = widths.reduce((sum, each) => sum + each + GAP, -GAP) - width
    const present = widths[column] ?? 0
    if (over > 0) widths[column] = Math.min(present, Math.max(least, present - over))
  }
  return rows
    .map((row) => row.map((cell, column) => field(cell, widths[column]!)).join(''))
    .map((line) => `${line.trimEnd()}\n`)
    .join('')
}

function field({ text, short = text, paint = (same) => same }: Cell, width: number): string {
  const shown = cutTo(stringWidth(text) > width ? short : text, width)
  return `${paint(shown)}${' '.repeat(Math.max(0, width - stringWidth(shown)) + GAP)}`
}
