import type { DiffLine } from '../../rendering/diff/shape.ts'
import { diffTexts } from '../../rendering/diff/texts.ts'
import { shownLine } from './shown-line.ts'
import type { Terminal } from './terminal.ts'
import { rowsOf } from './wrapped.ts'

/** The lines that differ between two texts, with three around them. */
export function changeText(terminal: Terminal, before: string, after: string): string {
  const { color } = terminal
  const diff = diffTexts(before, after)
  if (!diff) return color.dim('(too large, or too different, to be compared line by line)\n')
  if (diff.hunks.length === 0) return color.dim('(the same text)\n')
  const lines = diff.hunks.flatMap(({ header, lines }) => [
    color.cyan(header),
    ...lines.flatMap((line) => painted(terminal, line)),
  ])
  return `${lines.join('\n')}\n`
}

function painted({ color, width }: Terminal, { kind, text }: DiffLine): string[] {
  const paint = { '+': color.green, '-': color.red, ' ': color.reset }[kind]
  return rowsOf(shownLine(text), width() - 1).map((row) => paint(kind + row))
}
