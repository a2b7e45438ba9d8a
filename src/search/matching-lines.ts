import { createPhraseTest } from './phrases.ts'
import type { SearchedLine } from './searched-lines.ts'
import { folded, isAscii, isCommon, wordsIn } from './words.ts'

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
  /** How many texts of the query it has as they stand there. */
  said: number
}

const MAX_TEXT = 240
/** So much of a longer line stands before its first match. */
const BEFORE = 60

interface Looked {
  /** Words of the index. */
  terms: ReadonlySet<string>
  /** Of the query: a line that has most of them comes first. */
  texts: readonly string[]
  most: number
}

/**
 * The lines that have some of the words: those with most of the texts first, then those with most words. Common words
 * alone are none.
 */
export function matchingLines(
  lines: Iterable<SearchedLine>,
  { terms, texts, most }: Looked,
): Scored[] {
  const tests = texts.map((text) => createPhraseTest([text]))
  let best: Scored[] = []
  const all = [...terms]
  const telling = all.filter((term) => !isCommon(term))
  const counted = telling.length > 0 ? telling : all
  for (const { line, text, from } of lines) {
    if (isAscii(text)) {
      const lower = text.toLowerCase()
      if (!counted.some((term) => lower.includes(term))) continue // most lines; their words need no look
    }
    const { marks, seen } = marksIn(text, from, terms)
    const count = counted.filter((term) => seen.has(term)).length
    if (count === 0) continue
    const plain = folded(text.slice(from))
    const said = tests.filter((isIn) => isIn(plain)).length
    best.push({ line, ...excerpt(text, marks), count, said })
    if (best.length > 50 * most) best = bestOf(best, most)
  }
  return bestOf(best, most)
}

function bestOf(lines: Scored[], most: number): Scored[] {
  return lines.sort((a, b) => byMatch(a, b) || a.line - b.line).slice(0, most)
}

type Match = Pick<Scored, 'count' | 'said'>

/** Those that say most first. */
export function byMatch(a: Match, b: Match): number {
  return b.said - a.said || b.count - a.count
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
  return { marks, seen }
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
