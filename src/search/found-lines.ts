/** The lines that a result shows of a file, from its text in the index with its matches marked. */

import { MARK } from './indexed-text.ts'

export interface MatchingLine {
  /** From 1. */
  line: number
  /** The line, or the part of it around the first match. */
  text: string
  /** Start and end of each match in `text`, in UTF-16 units. */
  marks: [from: number, to: number][]
}

const MAX_TEXT = 240
/** Characters of a longer line that are shown before its first match. */
const BEFORE = 60
const { open, close, split, parts } = MARK

/** The lines with matches. `weight` is higher for more words, and for whole phrases. */
export function foundLines(highlighted: string): (MatchingLine & { weight: number })[] {
  let isOpen = false
  return highlighted.split('\n').flatMap((raw, index) => {
    const wasOpen = isOpen
    if (!wasOpen && !raw.includes(open)) return []
    const last = Math.max(raw.lastIndexOf(open), raw.lastIndexOf(close))
    if (last !== -1) isOpen = raw[last] === open
    const [own = '', partsOfNames = ''] = raw.split(parts)
    const { text, marks } = readMarks(own, wasOpen)
    for (const [, words = ''] of partsOfNames.matchAll(/\x02([^\x03]*)/g)) {
      for (const word of words.split(' ')) {
        const from = text.indexOf(word)
        if (from !== -1) marks.push([from, from + word.length])
      }
    }
    if (marks.length === 0) return []
    const all = merged(marks)
    const found = new Set(all.map(([from, to]) => text.slice(from, to).toLowerCase()))
    const weight = [...found].join('').length
    return [{ line: index + 1, ...excerpt(text, all), weight }]
  })
}

function readMarks(line: string, isOpen: boolean): Omit<MatchingLine, 'line'> {
  const marks: [number, number][] = []
  let text = ''
  let from = isOpen ? 0 : null
  for (const piece of line.split(/([\x02\x03])/)) {
    if (piece === open) from = text.length
    else if (piece === close && from !== null) marks.push([from, text.length])
    else text += piece.replaceAll(split, '')
    if (piece === close) from = null
  }
  if (from !== null) marks.push([from, text.length]) // the match goes on in the next line
  return { text, marks: marks.filter(([from, to]) => to > from) }
}

function merged(marks: [number, number][]): [number, number][] {
  const all: [number, number][] = []
  for (const [from, to] of marks.sort((a, b) => a[0] - b[0])) {
    const last = all.at(-1)
    if (last && from <= last[1]) last[1] = Math.max(last[1], to)
    else all.push([from, to])
  }
  return all
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
