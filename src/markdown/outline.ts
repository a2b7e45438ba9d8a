import { type Line, linesOf, trimBlanks } from './lines.ts'
import { reservedName } from './near-name.ts'
import { parsedMarkdown } from './parser-pool.ts'

/** A reserved heading: its line, and the start of the text below it. */
export interface Heading {
  name: string
  start: number
  next: number
}

/**
 * Finds the first top-level `## <name>` heading of each reserved name, in the order of the text;
 * null when the text is too complex to parse. A second heading of the same name is part of the
 * section it is in. If no heading has the exact form, the first similar one counts: with another
 * case, a colon, or a lower level.
 */
export async function outline(
  body: string,
  names: readonly string[],
  optional: readonly OptionalHeading[] = [],
): Promise<Heading[] | null> {
  return shortOutline(body, names, optional) ?? parsedOutline(body, names, optional)
}

/** A heading that counts only with certain text below it, and between certain others. */
export interface OptionalHeading {
  name: string
  after: string
  /** Whether the text below it, up to the next heading that counts or has this name, belongs to it. */
  counts(region: string): boolean
}

const MAY_BE_RESERVED = /^ {0,3}(#{2,6})[ \t]/
const ANY_SUCH_LINE = /^ {0,3}#{2,6}[ \t][^\r\n]*/gm
/** A fence inside a list or quote, or an indented one: only the parser knows whether it is top-level. */
const INNER_FENCE = /^(?:[ \t]+|[ \t]*(?:>|[*+-]|\d{1,9}[.)])[ \t>*+\-\d.)]*)(?:`{3}|~{3})/
/** An item whose text begins on its line, so that its inner lines are indented by 2 spaces. */
const PLAIN_ITEM = /^[-*+] (?=[A-Za-z0-9[])/
const HTML_START = /^[ \t>*+\-\d.)]*<[A-Za-z/!?]/
export const OPENING = /^(`{3,}(?=[^`]*$)|~{3,})/

/**
 * Finds the outline without a parser; null if only the parser can decide. The result is certain if
 * each fence opens in column 0 and no line starts with HTML: a fence or heading in column 0 ends
 * any paragraph, list or quote before it, so only an open fence can hide it (CommonMark 0.31, §4.2,
 * §4.5). Lines inside an item of a list in column 0 cannot: what they open ends with the item.
 */
export function shortOutline(
  body: string,
  names: readonly string[],
  optional: readonly OptionalHeading[] = [],
): Heading[] | null {
  const found: Candidate[] = []
  for (const { text, start, next } of outerLines(body)) {
    // without a candidate heading there is nothing to hide
    if (mayHideLines(text)) return hasCandidate(body, names) ? null : []
    const reserved = candidate(text, names)
    if (!reserved) continue
    if (text.startsWith(' ')) return null // the line may belong to a list item
    found.push({ ...reserved, start, next })
  }
  return chosen(found, body, optional)
}

/** Yields the lines outside the fences and list items that begin in column 0. Returns whether a fence is left open. */
function* outerLines(body: string): Generator<Line, boolean> {
  let fence: string | null = null
  let isInItem = false
  for (const line of linesOf(body)) {
    const { text } = line
    if (text === '') continue // there may be millions
    if (fence !== null) {
      if (closesFence(text, fence)) fence = null
      continue
    }
    if (isInItem && /^(?: {2}|[ \t]*$)/.test(text)) continue
    isInItem = PLAIN_ITEM.test(text)
    const opening = OPENING.exec(text)
    if (opening) fence = opening[1]!
    else yield line
  }
  return fence !== null
}

const TOP_HEADING = /^ {0,3}#{1,2}(?:[ \t]|$)/
/** Makes a heading of the line above. */
const UNDERLINE = /^ {0,3}(?:=+|-+)[ \t]*$/

/**
 * Whether a text, in a section of a file, looks like part of that section to any reader: it has no heading of the
 * levels 1 and 2, no HTML, and no open fence.
 */
export function staysInSection(text: string): boolean {
  const lines = outerLines(text)
  let above = -1
  for (;;) {
    const { value, done } = lines.next()
    if (done) return !value
    if (TOP_HEADING.test(value.text) || HTML_START.test(value.text)) return false
    if (above === value.start && UNDERLINE.test(value.text)) return false
    above = value.next
  }
}

/** Whether this line may open a fence or HTML that only the parser can judge. */
export function mayHideLines(line: string): boolean {
  return INNER_FENCE.test(line) || HTML_START.test(line)
}

interface Candidate extends Heading {
  exact: boolean
}

/** Returns the reserved name that a line means as a heading. */
function candidate(line: string, names: readonly string[]): ReturnType<typeof reservedName> {
  const marks = MAY_BE_RESERVED.exec(line)?.[1]
  return marks ? reservedName(marks.length, headingText(line), names) : null
}

function hasCandidate(body: string, names: readonly string[]): boolean {
  return (body.match(ANY_SUCH_LINE) ?? []).some((line) => candidate(line, names) !== null)
}

/** Chooses one heading per name: the first in exact form, else the first similar one. */
function chosen(
  found: readonly Candidate[],
  body: string,
  optional: readonly OptionalHeading[],
): Heading[] {
  const best = new Map<string, Candidate>()
  for (const each of found) {
    if (optional.some(({ name }) => name === each.name)) continue
    const present = best.get(each.name)
    if (!present || (each.exact && !present.exact)) best.set(each.name, each)
  }
  const headings = [...best.values()].sort((a, b) => a.start - b.start)
  const added = optional.flatMap((each) => chosenOptional(found, headings, body, each) ?? [])
  return [...headings, ...added]
    .sort((a, b) => a.start - b.start)
    .map(({ name, start, next }) => ({ name, start, next }))
}

/** Finds the optional heading in exact form: the first with text that belongs to it. */
function chosenOptional(
  found: readonly Candidate[],
  headings: readonly Heading[],
  body: string,
  { name, after, counts }: OptionalHeading,
): Candidate | undefined {
  const before = headings.findIndex((heading) => heading.name === after)
  const from = headings[before]?.start ?? 0
  const to = headings[before + 1]?.start ?? body.length
  const all = found.filter(
    (each) => each.name === name && each.exact && each.start >= from && each.start < to,
  )
  return all.find(({ next }, index) => counts(body.slice(next, all[index + 1]?.start ?? to)))
}

/** Whether a line closes the fence that `opening`, a run of backticks or tildes, opened. */
export function closesFence(line: string, opening: string): boolean {
  const indent = /^ {0,3}/.exec(line)![0].length
  return line.startsWith(opening, indent) && blankBehind(line, opening[0]!, indent + opening.length)
}

/**
 * Trap: no regular expression with `{n,}` here, because V8 aborts the process when `n` is a run of
 * 256 KiB.
 */
function blankBehind(line: string, mark: string, from: number): boolean {
  let at = from
  while (line[at] === mark) at++
  return /^[ \t]*$/.test(line.slice(at))
}

/** Returns the text of an ATX heading without closing hashes (CommonMark 0.31, §4.2). */
export function headingText(line: string): string {
  const text = trimBlanks(line.replace(/^ {0,3}#{1,6}/, ''))
  const hashes = /(?<!#)#+$/.exec(text)?.[0].length ?? 0
  const before = text.slice(0, text.length - hashes)
  return hashes === 0 || /[^ \t]$/.test(before) ? text : trimBlanks(before)
}

/** Same, with remark. */
export async function parsedOutline(
  body: string,
  names: readonly string[],
  optional: readonly OptionalHeading[] = [],
): Promise<Heading[] | null> {
  const parsed = await parsedMarkdown(body)
  if (!parsed) return null
  const found: Candidate[] = []
  for (const { depth, atx, start, next } of parsed.headings) {
    if (!atx) continue
    const line = linesOf(body, start).next().value!
    const reserved = reservedName(depth, headingText(line.text), names)
    if (!reserved) continue
    const lineStart = body.lastIndexOf('\n', start - 1) + 1
    found.push({
      ...reserved,
      start: Math.max(lineStart, body.lastIndexOf('\r', start - 1) + 1),
      next,
    })
  }
  return chosen(found, body, optional)
}
