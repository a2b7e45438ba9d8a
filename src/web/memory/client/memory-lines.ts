import { diffArrays } from 'diff'

/** Pure. A file's text for a textarea, which has one kind of line end; without the byte order mark. */
export function textToEdit(text: string): string {
  return text.replace(/^\ufeff/, '').replace(/\r\n?/g, '\n')
}

/**
 * Pure. The edited text for the file whose text was `original`: with its byte order mark, unchanged lines with their
 * line ends, and new lines with the line end of their neighbours. `textToEdit` of it is `edited` again.
 */
export function textToSave(original: string, edited: string): string {
  const mark = original.startsWith('\ufeff') ? '\ufeff' : ''
  const before = linesOf(original.slice(mark.length))
  const usual = usualEnd(before)
  const texts = edited.split('\n')
  const isMixed = before.some(({ end }) => end !== '' && end !== usual)
  const ends = isMixed ? endsFor(before, texts, usual) : texts.map(() => usual)
  let text = mark
  texts.forEach((line, index) => {
    if (index === texts.length - 1) text += line
    else text += line + safeEnd(ends, texts, index)
  })
  return text
}

interface Line {
  text: string
  /** Empty for the last line, if nothing ends it. */
  end: string
}

function linesOf(text: string): Line[] {
  const pieces = text.split(/(\r\n|\r|\n)/)
  const lines: Line[] = []
  for (let at = 0; at < pieces.length; at += 2)
    lines.push({ text: pieces[at]!, end: pieces[at + 1] ?? '' })
  return lines
}

function usualEnd(lines: readonly Line[]): string {
  const count = (kind: string) => lines.filter(({ end }) => end === kind).length
  const [windows, unix, old] = [count('\r\n'), count('\n'), count('\r')]
  if (windows > unix && windows >= old) return '\r\n'
  return old > unix ? '\r' : '\n'
}

/** The line end of each edited line: that of the line that it is or replaces, else of the line before it. */
function endsFor(before: readonly Line[], texts: readonly string[], usual: string): string[] {
  const ends: string[] = []
  let at = 0
  let replaced: Line[] = []
  for (const { count, added, removed } of changesBetween(before, texts)) {
    if (removed) {
      replaced = before.slice(at, at + count)
      at += count
    } else if (added) {
      for (let line = 0; line < count; line++)
        ends.push(replaced[line]?.end || ends.at(-1) || before[at]?.end || usual)
      replaced = []
    } else {
      for (let line = 0; line < count; line++) ends.push(before[at++]!.end || usual)
      if (count > 0) replaced = []
    }
  }
  return ends
}

interface Change {
  count: number
  added?: boolean
  removed?: boolean
}

const LIMITS = { maxEditLength: 5000, timeout: 1000 }

/** If the texts are too different to compare, all lines between their common beginning and end count as new. */
function changesBetween(before: readonly Line[], texts: readonly string[]): Change[] {
  const old = before.map(({ text }) => text)
  const most = Math.min(old.length, texts.length)
  let head = 0
  while (head < most && old[head] === texts[head]) head++
  let tail = 0
  while (tail < most - head && old[old.length - 1 - tail] === texts[texts.length - 1 - tail]) tail++
  const from = old.slice(head, old.length - tail)
  const to = texts.slice(head, texts.length - tail)
  const middle: Change[] = diffArrays(from, to, LIMITS) ?? [
    { count: from.length, removed: true },
    { count: to.length, added: true },
  ]
  return [{ count: head }, ...middle, { count: tail }]
}

/** A lone CR followed by an empty line that ends with LF would be read as a single CRLF. */
function safeEnd(ends: readonly string[], texts: readonly string[], index: number): string {
  const end = ends[index]!
  const isLast = index + 1 === texts.length - 1
  const next = isLast || texts[index + 1] !== '' ? '' : ends[index + 1]
  return end === '\r' && next === '\n' ? '\r\n' : end
}
