/** The first and last lines of a text: of a test report the end matters most. */
export interface Excerpt {
  first: string
  /** How many lines are left out between them. */
  left: number
  last: string
  /** Whether nothing is left out. */
  isWhole: boolean
}

const MAX_LINES = 14
const [FIRST, LAST] = [6, 6]
const MAX_LINE = 240

/** Pure. */
export function excerptOf(text: string): Excerpt {
  const lines = text.trimEnd().split(/\r?\n/)
  const isLong = lines.length > MAX_LINES
  const [first, last] = isLong ? [lines.slice(0, FIRST), lines.slice(-LAST)] : [lines, []]
  return {
    first: first.map(cutLine).join('\n'),
    left: isLong ? lines.length - FIRST - LAST : 0,
    last: last.map(cutLine).join('\n'),
    isWhole: !isLong && lines.every((line) => line.length <= MAX_LINE),
  }
}

function cutLine(line: string): string {
  return line.length > MAX_LINE ? `${line.slice(0, MAX_LINE).toWellFormed()} …` : line
}
