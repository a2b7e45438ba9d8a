/** Finds the lines that a search hit shows, and marks the matching words in them. */

import type { SearchedLine } from './searched-lines.ts'
import { isAscii, isCommon, plainWords, plainWordsIn, type Word, wordsIn } from './words.ts'

export interface MatchingLine {
  /** From 1. */
  line: number
  /** The line, or the part of it around the first match. */
  text: string
  /** Start and end of each matching word in `text`, in UTF-16 units. */
  marks: [from: number, to: number][]
}

export interface ScoredLine extends MatchingLine {
  /** The number of different words that match. */
  count: number
  /** The number of query texts that the line contains word for word. */
  quotes: number
}

const MAX_TEXT = 240
/** Characters of a longer line that are shown before its first match. */
const BEFORE = 60

/** What to find in the lines of a case. */
export interface LineQuery {
  words: ReadonlySet<string>
  /** Words that begin with one of these match too. */
  prefixes: readonly string[]
  /** Lines with more of these, word for word, come first. */
  texts: readonly string[]
  /** How many lines to return. */
  limit: number
}

/**
 * Returns the lines that have some of the words: first those with most texts, then those with most words. Common
 * words count only if the query has no others.
 */
export function matchingLines(lines: Iterable<SearchedLine>, query: LineQuery): ScoredLine[] {
  const { words, prefixes, limit } = query
  const phrases = query.texts.map((text) => joinWords(plainWordsIn(text)))
  let best: ScoredLine[] = []
  /** The number of lines with all words and texts. */
  let complete = 0
  const all = [...new Set([...words, ...prefixes])]
  const rareWords = all.filter((word) => !isCommon(word))
  const counted = rareWords.length > 0 ? rareWords : all
  for (const { line, text, from } of lines) {
    if (isAscii(text)) {
      const lower = text.toLowerCase()
      if (!counted.some((word) => lower.includes(word))) continue // skips most lines without splitting them into words
    }
    const own = [...wordsIn(text)].filter((word) => word.from >= from)
    const { marks, seen } = marksIn(own, query)
    const count = counted.filter((word) => seen.has(word)).length
    if (count === 0) continue
    let quotes = 0
    if (phrases.length > 0) {
      const plain = joinWords(plainWords(own))
      quotes = phrases.filter((phrase) => plain.includes(phrase)).length
    }
    best.push({ line, ...excerpt(text, marks), count, quotes })
    if (count === counted.length && quotes === phrases.length) complete++
    if (complete === limit) break // no later line is better
    if (best.length > 50 * limit) best = bestOf(best, limit)
  }
  return bestOf(best, limit)
}

function joinWords(words: readonly string[]): string {
  return ` ${words.join(' ')} `
}

function bestOf(lines: ScoredLine[], limit: number): ScoredLine[] {
  return lines.sort((a, b) => byMatch(a, b) || a.line - b.line).slice(0, limit)
}

type Match = Pick<ScoredLine, 'count' | 'quotes'>

/** Sorts the best matches first. */
export function byMatch(a: Match, b: Match): number {
  return b.quotes - a.quotes || b.count - a.count
}

function marksIn(own: readonly Word[], { words, prefixes }: LineQuery) {
  const marks: [number, number][] = []
  const seen = new Set<string>()
  for (const { from, to, whole, parts } of own) {
    let matching = words.has(whole) ? whole : parts.find((word) => words.has(word))
    matching ??= prefixes.find(
      (each) => whole.startsWith(each) || parts.some((word) => word.startsWith(each)),
    )
    if (matching === undefined) continue
    seen.add(matching)
    const last = marks.at(-1)
    if (last && from <= last[1]) last[1] = Math.max(last[1], to)
    else marks.push([from, to])
  }
  return { marks, seen }
}

/** Returns the whole line, or a part with an ellipsis at each end where text is left out. */
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
