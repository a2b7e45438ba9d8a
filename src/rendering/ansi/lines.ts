import { visibleOutput } from '../hidden-characters.ts'
import { createEscapeReader } from './escapes.ts'
import { type AnsiStyle, nextStyle, PLAIN } from './style.ts'

export interface AnsiRun {
  text: string
  style: AnsiStyle
}

export interface AnsiLine {
  runs: AnsiRun[]
  /** The line was too long and continues in the next one: there is no line end between them. */
  wrapped: boolean
}

export interface AnsiReader {
  /**
   * The lines that this chunk completed; they change no more. Each stream has its own colours and its own unfinished
   * sequences.
   */
  write(chunk: string, stream?: Stream): AnsiLine[]
  /** The unfinished line as it is now; null if it is empty. */
  open(): AnsiLine | null
}

type Stream = 'stdout' | 'stderr'

/** The longest line, so that it costs little to show an unfinished one again and again. */
const MAX_CELLS = 16_384

/**
 * Pure. Reads terminal output, in chunks of any size, into lines of styled text. Text after a lone CR replaces its
 * line, as in a progress bar; a backspace removes one character. Colours continue from line to line. Other cursor
 * movements and requests to the terminal are dropped. Other control characters become visible symbols.
 */
export function createAnsiReader(): AnsiReader {
  let finished: AnsiLine[] = []
  let cells: string[] = []
  let styles: AnsiStyle[] = []
  /** Where the next text is written: before the end of the line only after a CR or a backspace. */
  let cursor = 0

  const cut = (length: number) => {
    cells.length = length
    styles.length = length
    cursor = length
  }
  const finish = (wrapped: boolean) => {
    finished.push({ runs: runsOf(cells, styles), wrapped })
    cells = []
    styles = []
    cursor = 0
  }
  const put = (text: string, style: AnsiStyle) => {
    if (cursor < cells.length) cut(cursor)
    for (const character of text) {
      if (cells.length === MAX_CELLS) finish(true)
      cells.push(character)
      styles.push(style)
    }
    cursor = cells.length
  }
  const erase = (mode: string) => {
    if (mode === '2' || (mode === '1' && cursor === cells.length)) cut(0)
    else if (mode === '' || mode === '0') cut(cursor)
  }

  const streamReader = () => {
    let style = PLAIN
    /** The first half of a surrogate pair whose second half has not arrived. */
    let half = ''
    const read = createEscapeReader({
      text: (text) => put(visibleOutput(text), style),
      control(character) {
        if (character === '\n') finish(false)
        else if (character === '\r') cursor = 0
        else if (character === '\b') cursor = Math.max(0, cursor - 1)
        else put(visibleOutput(character), style)
      },
      sequence(parameters, final) {
        if (final === 'm') style = nextStyle(style, parameters)
        else if (final === 'K') erase(parameters)
        else if (final === 'G' && /^[01]?$/.test(parameters)) cursor = 0
      },
    })
    return (chunk: string) => {
      const text = half + chunk
      half = /[\ud800-\udbff]$/.test(text) ? text.slice(-1) : ''
      read(half === '' ? text : text.slice(0, -1))
    }
  }
  const readers = { stdout: streamReader(), stderr: streamReader() }

  return {
    write(chunk, stream = 'stdout') {
      readers[stream](chunk)
      const lines = finished
      finished = []
      return lines
    },
    open: () => (cells.length === 0 ? null : { runs: runsOf(cells, styles), wrapped: false }),
  }
}

/** Pure. The text of a line without its colours. */
export function lineText({ runs }: AnsiLine): string {
  return runs.map(({ text }) => text).join('')
}

/** Pure. All lines of a whole text. */
export function ansiLines(text: string): AnsiLine[] {
  const reader = createAnsiReader()
  const lines = reader.write(text)
  const last = reader.open()
  return last ? [...lines, last] : lines
}

function runsOf(cells: readonly string[], styles: readonly AnsiStyle[]): AnsiRun[] {
  const runs: AnsiRun[] = []
  let start = 0
  for (let at = 1; at <= cells.length; at++) {
    if (at < cells.length && styles[at]!.key === styles[start]!.key) continue
    runs.push({ text: cells.slice(start, at).join(''), style: styles[start]! })
    start = at
  }
  return runs
}
