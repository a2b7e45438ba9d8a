import { stripVTControlCharacters, styleText } from 'node:util'

/** Prints the demo: one method for each kind of text. */
export interface Narrator {
  title(text: string): void
  chapter(text: string): void
  say(...lines: string[]): void
  /** A command line as a person would type it, with what is not part of it. */
  command(text: string, note?: string): void
  /** The text that waits for Enter. */
  prompt(isQuestion?: boolean): string
  /** A line that a command printed. */
  output(line: string): void
}

interface NarratorOptions {
  write(text: string): void
  /** Pass true only if the output is a terminal. */
  hasColours: boolean
  columns: number
}

const CHAPTERS = 6

export function createNarrator({ write, hasColours, columns }: NarratorOptions): Narrator {
  const styled = (style: Parameters<typeof styleText>[0], text: string) =>
    hasColours ? styleText(style, text, { validateStream: false }) : text
  const line = (text = '') => write(`${text.trimEnd()}\n`)
  let chapters = 0
  return {
    title: (text) => line(styled('bold', text)),
    chapter(text) {
      const head = `── ${++chapters} of ${CHAPTERS} · ${text} `
      const rule = '─'.repeat(Math.max(0, columns - 2 - head.length))
      line()
      line(`${styled(['bold', 'blue'], head)}${styled('blue', rule)}`)
    },
    say(...lines) {
      for (const text of lines) line(text === '' ? '' : `  ${text}`)
    },
    command(text, note = '') {
      const shown = wrapCommand(text, columns - 4 - note.length)
      line(`  ${styled('dim', '$')} ${styled(['bold', 'cyan'], shown)}${styled('dim', note)}`)
    },
    prompt: (isQuestion) =>
      styled('dim', `  Enter ${isQuestion ? 'approves this plan, n does not' : 'runs it'} `),
    output: (text) => line(`    ${cutLine(text, columns - 4)}`),
  }
}

/** Continues a long command on further lines, as in a shell. */
function wrapCommand(text: string, width: number): string {
  if (text.length <= width) return text
  const at = text.lastIndexOf(' -', width)
  if (at <= 0) return text
  return `${text.slice(0, at)} \\\n      ${wrapCommand(text.slice(at + 1), width - 4)}`
}

/** Cuts what is too long for the terminal. Colours count nothing. */
export function cutLine(line: string, width: number): string {
  if (stripVTControlCharacters(line).length <= width) return line
  let left = width - 1
  const parts = line.split(/(\u001b\[[\d;]*m)/).map((part, index) => {
    if (index % 2 === 1) return part
    const shown = part.slice(0, left)
    left -= shown.length
    return left === 0 && shown !== '' ? `${shown}…` : shown
  })
  return parts.join('')
}
