import type { DiffLine } from '../../rendering/diff/shape.ts'
import { diffTexts } from '../../rendering/diff/texts.ts'
import { shownLine } from '../output/shown-line.ts'
import type { Terminal } from '../output/terminal.ts'

/** The lines that differ between two texts, with three around them. */
export function changeText({ color }: Terminal, before: string, after: string): string {
  const diff = diffTexts(before, after)
  if (!diff) return color.dim('(too large, or too different, to be compared line by line)\n')
  if (diff.hunks.length === 0) return color.dim('(the same text)\n')
  const lines = diff.hunks.flatMap(({ header, lines }) => [
    color.cyan(header),
    ...lines.map((line) => painted(color, line)),
  ])
  return `${lines.join('\n')}\n`
}

function painted(color: Terminal['color'], { kind, text }: DiffLine): string {
  const shown = kind + shownLine(text)
  if (kind === '+') return color.green(shown)
  return kind === '-' ? color.red(shown) : shown
}
