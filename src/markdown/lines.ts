export interface Line {
  text: string
  start: number
  /** Offset after the text, before the line ending. */
  end: number
  /** Offset after the line ending. */
  next: number
}

/** The lines as CommonMark sees them: ended by LF, CRLF or a lone CR, and by nothing else. */
export function* linesOf(text: string, from = 0): Generator<Line> {
  const ending = /\r\n|\n|\r/g
  let start = from
  while (start < text.length) {
    ending.lastIndex = start
    const match = ending.exec(text)
    const end = match ? match.index : text.length
    const next = match ? end + match[0].length : text.length
    yield { text: text.slice(start, end), start, end, next }
    start = next
  }
}

/** 1-based number of the line that holds `offset`. */
export function lineAt(text: string, offset: number): number {
  return (text.slice(0, offset).match(/\r\n|\n|\r/g)?.length ?? 0) + 1
}

export type LineEnding = '\n' | '\r\n'

/** The ending of the first line decides; a file without one gets LF. */
export function lineEnding(text: string): LineEnding {
  const first = text.indexOf('\n')
  return first > 0 && text[first - 1] === '\r' ? '\r\n' : '\n'
}
