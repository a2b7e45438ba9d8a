import stringWidth from 'string-width'

/** Lines broken between words where they are wider than the screen; blanks at a line's beginning stay. */
export function wrapped(text: string, width: number): string {
  return text
    .split('\n')
    .map((line) => wrappedLine(line, width))
    .join('\n')
}

function wrappedLine(line: string, width: number): string {
  if (stringWidth(line) <= width) return line
  const indent = /^ */.exec(line)![0]
  const lines: string[] = []
  let present = ''
  for (const word of line.trim().split(' ')) {
    const longer = present === '' ? indent + word : `${present} ${word}`
    if (present !== '' && stringWidth(longer) > width) {
      lines.push(present)
      present = indent + word
    } else present = longer
  }
  return [...lines, present].join('\n')
}
