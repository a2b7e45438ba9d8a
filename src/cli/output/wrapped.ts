import { brokenAt, stringWidth } from './screen-width.ts'

/**
 * Breaks lines between words if they are wider than the screen, and words that are wider. Continuation lines keep the
 * indentation of their line, or get `hanging`.
 */
export function wrapped(text: string, width: number, hanging?: string): string {
  return text
    .split('\n')
    .map((line) => wrappedLine(line, width, hanging))
    .join('\n')
}

function wrappedLine(line: string, width: number, hanging?: string): string {
  if (stringWidth(line) <= width) return line
  const indent = /^ */.exec(line)![0]
  const start = hanging ?? indent
  const room = width - Math.max(indent.length, stringWidth(start))
  const lines: string[] = []
  let present = ''
  for (const word of line.trim().split(' ')) {
    for (const [index, part] of brokenAt(word, room).entries()) {
      const longer = present === '' ? indent + part : `${present} ${part}`
      if (index > 0 || (present !== '' && stringWidth(longer) > width)) {
        lines.push(present)
        present = start + part
      } else present = longer
    }
  }
  return [...lines, present].join('\n')
}

/**
 * The rows of a line that must not pass for another, such as one that runs: broken at the edge of the screen with all
 * its blanks, all but the first behind ↪. The caller puts the same mark before each.
 */
export function rowsOf(line: string, width: number): string[] {
  if (stringWidth(line) <= width) return [line]
  return brokenAt(line, width - 2).map((row, index) => (index > 0 ? `↪ ${row}` : row))
}
