/** Finds the lines that a hit shows, and marks the matching words in them. */

import type { SearchedLine } from './searched-lines.ts'
import { isAscii, isCommon, plainWords, plainWordsIn, type Word, wordsIn } from './words.ts'

export interface MatchingLine {
  /** From 1. */
  line: number
  /** The line, or what of it is around the first match. */
  text: string
  /** Where words that match begin and end in `text`, in UTF-16 units. */
  marks: [from: number, to: number][]
}

export interface ScoredLine extends MatchingLine {
  /** How many different words match. */
  count: number
  /** How many texts of the query it has word for word. */
  quotes: number
}

const MAX_TEXT = 240
/** So much of a longer line is shown before its first match. */
const BEFORE = 60

/** What is looked for in the lines of a case. */
export interface LineQuery {
  words: ReadonlySet<string>
  /** Words that begin with one of these match too. */
  beginnings: readonly string[]
  /** A line that has most of these word for word comes first. */
  texts: readonly string[]
  most: number
}

/**
 * The lines that have some of the words: first those with most of the texts, then those with most words. Common words
 * alone do not count.
 */
export function matchingLines(lines: Iterable<SearchedLine>, query: LineQuery): ScoredLine[] {
  const { words, beginnings, most } = query
  const phrases = query.texts.map((text) => inBlanks(plainWordsIn(text)))
  let best: ScoredLine[] = []
  /** Lines with all of the words and texts. */
  let complete = 0
  const all = [...new Set([...words, ...beginnings])]
  const telling = all.filter((word) => !isCommon(word))
  const counted = telling.length > 0 ? telling : all
  for (const { line, text, from } of lines) {
    if (isAscii(text)) {
      const lower = text.toLowerCase()
      if (!counted.some((word) => lower.includes(word))) continue // most lines: their words need no look
    }
    const own = [...wordsIn(text)].filter((word) => word.from >= from)
    const { marks, seen } = marksIn(own, query)
    const count = counted.filter((word) => seen.has(word)).length
    if (count === 0) continue
    let quotes = 0
    if (phrases.length > 0) {
      const plain = inBlanks(plainWords(own))
      quotes = phrases.filter((phrase) => plain.includes(phrase)).length
    }
    best.push({ line, ...excerpt(text, marks), count, quotes })
    if (count === counted.length && quotes === phrases.length) complete++
    if (complete === most) break // no line after these is better
    if (best.length > 50 * most) best = bestOf(best, most)
  }
  return bestOf(best, most)
}

function inBlanks(words: readonly string[]): string {
  return ` ${words.join(' ')} `
}

function bestOf(lines: ScoredLine[], most: number): ScoredLine[] {
  return lines.sort((a, b) => byMatch(a, b) || a.line - b.line).slice(0, most)
}

type Match = Pick<ScoredLine, 'count' | 'quotes'>

/** Those that match best first. */
export function byMatch(a: Match, b: Match): number {
  return b.quotes - a.quotes || b.count - a.count
}

function marksIn(own: readonly Word[], { words, beginnings }: LineQuery) {
  const marks: [number, number][] = []
  const seen = new Set<string>()
  for (const { from, to, whole, parts } of own) {
    let matching = words.has(whole) ? whole : parts.find((word) => words.has(word))
    matching ??= beginnings.find(
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
