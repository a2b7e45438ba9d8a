export interface Line {
  text: string
  start: number
  /** Offset after the text, before the line ending. */
  end: number
  /** Offset after the line ending. */
  next: number
}

/** Yields lines as in CommonMark: ended by LF, CRLF or a lone CR. */
export function* linesOf(text: string, from = 0, to = text.length): Generator<Line> {
  let lf = -1
  let cr = -1
  for (let start = from; start < to; ) {
    // each search continues from the last match of its kind, so a text is scanned only once
    if (lf < start) lf = indexFrom(text, '\n', start)
    if (cr < start) cr = indexFrom(text, '\r', start)
    const ending = Math.min(lf, cr)
    const end = Math.min(ending, to)
    const next = Math.min(ending + (lf === cr + 1 ? 2 : 1), to)
    yield { text: text.slice(start, end), start, end, next }
    start = next
  }
}

function indexFrom(text: string, ending: string, from: number): number {
  const index = text.indexOf(ending, from)
  return index < 0 ? text.length : index
}

/** Trims spaces and tabs, as CommonMark does, in linear time. */
export function trimBlanks(text: string): string {
  let end = text.length
  while (end > 0 && (text[end - 1] === ' ' || text[end - 1] === '\t')) end--
  return text.slice(0, end).replace(/^[ \t]+/, '')
}

/**
 * Removes a byte order mark and the blank lines at both ends. Keeps the indentation of the first line, which may say
 * that it is code: an example that would run without it.
 */
export function trimLines(text: string): string {
  return text
    .replace(/^\ufeff/, '')
    .replace(/^(?:[^\S\r\n]*(?:\r\n|\n|\r))+/, '')
    .trimEnd()
}

/** Returns the 1-based line number of `offset`. */
export function lineAt(text: string, offset: number): number {
  // counts on from the last call, so that many calls for one text take linear time
  const from = counted.text === text && counted.offset <= offset ? counted : { offset: 0, line: 1 }
  const line = from.line + (text.slice(from.offset, offset).match(/\r\n|\n|\r/g)?.length ?? 0)
  if (text[offset] !== '\n') counted = { text, offset, line }
  return line
}

let counted = { text: '', offset: 0, line: 1 }

export type LineEnding = '\n' | '\r\n'

/** Returns the ending of the first line; LF without one. */
export function lineEnding(text: string): LineEnding {
  const first = text.indexOf('\n')
  return first > 0 && text[first - 1] === '\r' ? '\r\n' : '\n'
}
