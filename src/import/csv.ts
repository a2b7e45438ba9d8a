export interface CsvRow {
  /** The line that it begins on, from 1. */
  line: number
  cells: string[]
}

/** Parses CSV as RFC 4180 describes it. Returns the line of a quote that is not closed. */
export function parseCsv(text: string): { rows: CsvRow[] } | { unclosed: number } {
  const rows: CsvRow[] = []
  let [line, at] = [1, 0]
  while (at < text.length) {
    const row: CsvRow = { line, cells: [] }
    let isRow = true
    while (isRow) {
      const cell = text[at] === '"' ? quotedCell(text, at) : plainCell(text, at)
      if (cell === null) return { unclosed: row.line }
      row.cells.push(cell.value)
      line += text.slice(at, cell.end).split('\n').length - 1
      at = cell.end
      isRow = text[at] === ','
      if (isRow) at++
    }
    if (text[at] === '\r') at++
    if (text[at] === '\n') {
      at++
      line++
    }
    if (row.cells.some((cell) => cell !== '')) rows.push(row)
  }
  return { rows }
}

interface Cell {
  value: string
  end: number
}

function plainCell(text: string, at: number): Cell {
  const ending = /[,\r\n]|$/g
  ending.lastIndex = at
  const end = ending.exec(text)!.index
  return { value: text.slice(at, end), end }
}

function quotedCell(text: string, at: number): Cell | null {
  let from = at + 1
  for (;;) {
    const end = text.indexOf('"', from)
    if (end === -1) return null
    if (text[end + 1] !== '"') {
      const rest = plainCell(text, end + 1) // text after the quote belongs to the cell
      const value = text.slice(at + 1, end).replaceAll('""', '"') + rest.value
      return { value, end: rest.end }
    }
    from = end + 2
  }
}
