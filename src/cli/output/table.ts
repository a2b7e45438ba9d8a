import { cutTo, stringWidth } from './screen-width.ts'

export interface Cell {
  text: string
  /** A shorter text, used if `text` does not fit. */
  short?: string
  /** Adds colours; only `text` counts for the width. */
  paint?: (text: string) => string
}

const GAP = 2
/** The least width of a column that is cut. */
const LEAST = 12

/** The number of a column that may be cut, and its least width. */
export type Cut = readonly [column: number, least: number]

interface TableOptions {
  /** Width of the screen; unlimited if not given. */
  width?: number
  /** Columns to cut, in this order, if the table is too wide. */
  cuts?: readonly Cut[]
}

/** Rows in columns, each as wide as its widest cell. Cut text ends with an ellipsis. */
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
