import type { SearchedLine } from './searched-lines.ts'
import { wordsIn } from './words.ts'

export interface MatchingLine {
  /** From 1. */
  line: number
  /** The line, or what of it is around the first match. */
  text: string
  /** Where words that match begin and end in `text`, in UTF-16 units. */
  marks: [from: number, to: number][]
}

interface Scored extends MatchingLine {
  /** How many different words match. */
  count: number
}

const MAX_TEXT = 240
/** So much of a longer line stands before its first match. */
const BEFORE = 60

/** The lines that have some of the words of the index, those with most of them first. */
export function matchingLines(
  lines: Iterable<SearchedLine>,
  terms: ReadonlySet<string>,
  most: number,
): Scored[] {
  let best: Scored[] = []
  for (const { line, text, from } of lines) {
    const found = marksIn(text, from, terms)
    if (found.count === 0) continue
    best.push({ line, ...excerpt(text, found.marks), count: found.count })
    if (best.length > 50 * most) best = bestOf(best, most)
  }
  return bestOf(best, most)
}

function bestOf(lines: Scored[], most: number): Scored[] {
  return lines.sort((a, b) => b.count - a.count || a.line - b.line).slice(0, most)
}

function marksIn(text: string, start: number, terms: ReadonlySet<string>) {
  const marks: [number, number][] = []
  const seen = new Set<string>()
  for (const { from, to, whole, parts } of wordsIn(text)) {
    if (from < start) continue
    const matching = [whole, ...parts].find((term) => terms.has(term))
    if (matching === undefined) continue
    seen.add(matching)
    const last = marks.at(-1)
    if (last && from <= last[1]) last[1] = Math.max(last[1], to)
    else marks.push([from, to])
  }
  return { marks, count: seen.size }
}

/** A whole line, or a part of it that begins and ends with an ellipsis where something is left out. */
function excerpt(text: string, marks: [number, number][]): Omit<MatchingLine, 'line'> {
  if (text.length <= MAX_TEXT) return { text, marks }
  const first = marks[0]![0]
  const from = first <= BEFORE ? 0 : Math.min(first - BEFORE, text.length - MAX_TEXT)
  const to = Math.min(from + MAX_TEXT, text.length)
  const before = from > 0 ? '…' : ''
  const shift = from - before.length
  return {
    text: `${before}${text.slice(from, to).toWellFormed()}${to < text.length ? '…' : ''}`,
    marks: marks
      .filter(([start]) => start < to)
      .map(([start, end]): [number, number] => [start - shift, Math.min(end, to) - shift]),
  }
}
