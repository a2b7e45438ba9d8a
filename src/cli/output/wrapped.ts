import { stringWidth } from './screen-width.ts'

/**
 * Breaks lines between words if they are wider than the screen. Continuation lines keep the indentation of their line,
 * or get `hanging`.
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
  const lines: string[] = []
  let present = ''
  for (const word of line.trim().split(' ')) {
    const longer = present === '' ? indent + word : `${present} ${word}`
    if (present !== '' && stringWidth(longer) > width) {
      lines.push(present)
      present = (hanging ?? indent) + word
    } else present = longer
  }
  return [...lines, present].join('\n')
}
