import { type ItemReading, looksRequired, readItem } from './checklist-item.ts'
import { linesOf, trimBlanks } from './lines.ts'
import { plainName } from './near-name.ts'
import type { Parsed, ParsedItem, ParsedLines } from './parse.ts'
import { parsedMarkdown } from './parser-pool.ts'
import type { Sectioned } from './sections.ts'

export const CHECKLIST_HEADING = 'Proof checklist'

export interface PlacedItem extends ItemReading {
  start: number
  /** Offset after the item's last line ending. */
  next: number
}

/** A line outside the checklist that asks for proof, or the heading of a list that is not the checklist. */
export interface StrayLine extends ItemReading {
  start: number
  why: string
}

export interface Checklist {
  items: PlacedItem[]
  strays: StrayLine[]
}

export type Range = Sectioned['ranges'][number]

export function checklistIn({ ranges }: Pick<Sectioned, 'ranges'>): Range | undefined {
  return ranges.find((each) => each.name === CHECKLIST_HEADING)
}

const PLAIN_HEADING = plainName(CHECKLIST_HEADING)
const FIRST_WORD = PLAIN_HEADING.split(' ', 1)[0]!

/** Whether a line has the text of the checklist heading, whatever kind of line it is. */
export function isNearHeading(line: string): boolean {
  // most lines have not even its first word, and are not looked at any further
  return line.toLowerCase().includes(FIRST_WORD) && plainName(line) === PLAIN_HEADING
}

export function shortened(text: string): string {
  return text.length > 100 ? `${text.slice(0, 100)}\u2026` : text
}

/** What remark finds in a text. It got only the part from `from` on, so offsets are relative to it. */
interface View {
  parsed: Parsed
  text: string
  from: number
  range: Range | undefined
  /** Whether this offset of the part is in the checklist. */
  isInside(start: number): boolean
}

/** Parses the checklist with remark, including nested and wrapped items, and finds similar lines elsewhere. */
export async function parsedChecklist({ text, ranges }: Sectioned): Promise<Checklist | null> {
  const from = ranges[0]!.from
  const parsed = await parsedMarkdown(text.slice(from, ranges.at(-1)!.to))
  if (!parsed) return null
  const range = checklistIn({ ranges })
  const section = range ? sectionIn(parsed, text, range, from) : null
  const isInside = (start: number) =>
    section !== null && start >= section.first && start < section.end
  const view: View = { parsed, text, from, range, isInside }
  const strays = [...strayItems(view), ...strayLines(view), ...strayHeadings(view)]
  return { items: itemsIn(view), strays: strays.sort((a, b) => a.start - b.start) }
}

/** Returns the range from the heading to the next heading of its level or above; level 2 always ends it. */
function sectionIn(
  { headings }: Parsed,
  text: string,
  range: Range,
  from: number,
): { first: number; end: number } {
  const marks = /^ {0,3}(#+)/.exec(text.slice(range.start, range.from))?.[1] ?? '##'
  const first = range.from - from
  const depth = Math.max(2, marks.length)
  const following = headings.find((each) => each.depth <= depth && each.start >= first)
  return { first, end: following ? following.start : Number.POSITIVE_INFINITY }
}

function itemsIn({ parsed, text, from, isInside }: View): PlacedItem[] {
  return parsed.items.flatMap((item) => {
    const read = isInside(item.start) ? readParsed(item) : null
    if (!read) return []
    const next = linesOf(text, from + item.end).next().value?.next ?? text.length
    return [{ ...read, start: from + item.start, next }]
  })
}

/** A checkbox as people type it: `[]`, `[ x ]`, `[X]`. Not a link. */
const ROUGH_BOX = /^\[([^\]\r\n]{0,3})\](?!\()[ \t]*(?=\S)/

/** Returns null for an item without a box that requires nothing. */
function readParsed({ checked, text }: ParsedItem): ItemReading | null {
  if (text === '') return null
  if (checked !== null) return readItem(oneLine(text), checked)
  const box = ROUGH_BOX.exec(text)
  if (box) return readItem(oneLine(text.slice(box[0].length)), /[xX\u2713\u2714]/.test(box[1]!))
  const read = readItem(oneLine(text), false)
  return read.required ? read : null
}

/** Joins the lines of a wrapped item. */
function oneLine(text: string): string {
  return [...linesOf(text)].map((line) => trimBlanks(line.text)).join(' ')
}

/** Returns items outside the checklist that look required; quotes are excluded. */
function strayItems({ parsed, from, isInside }: View): StrayLine[] {
  return parsed.items.flatMap(({ text, checked, quoted, start }) => {
    const last = lastLine(text)
    const hasBox = checked !== null || ROUGH_BOX.test(text)
    if (quoted || isInside(start) || !looksRequired(last, hasBox)) return []
    const where = `move it below a heading "## ${CHECKLIST_HEADING}", or take "required" out of it`
    const why = `"${shortened(last)}" is not in the checklist: ${where}`
    return [stray(oneLine(text), from + start, why)]
  })
}

/** Returns paragraphs and table rows in the checklist that look like required items. */
function strayLines({ parsed, from, isInside }: View): StrayLine[] {
  const inside = parsed.lines.filter(({ start }) => isInside(start))
  return inside.flatMap((block) =>
    [...linesOf(block.text)]
      .filter(
        ({ text }) => looksRequired(text, true) || /\|[ \t*_`]*required[ \t*_`]*\|/i.test(text),
      )
      .map(({ text, start }) => {
        const why = `"${shortened(text)}" is no item of a list: write it as "- [ ] <what> (<type>, required)"`
        return stray(trimBlanks(text), from + block.start + start, why)
      }),
  )
}

/** Returns lines that have the text of the heading and a list below, but are not the checklist heading. */
function strayHeadings({ parsed, text, from, range, isInside }: View): StrayLine[] {
  const lines = [...parsed.headings.map((each) => headingLine(each, text, from))]
  return [...lines, ...parsed.lines.map(lastOf)].flatMap(({ line, start, next }) => {
    const isOwn = range !== undefined && from + start >= range.start && from + start < range.from
    if (
      isOwn ||
      isInside(start) ||
      !isNearHeading(line) ||
      !hasListAt(parsed, text, from + next, from)
    )
      return []
    const why = range
      ? `this is a second "${CHECKLIST_HEADING}": move the items of both below the first`
      : `"${line.trim()}" is not read as the heading of the checklist: write it as "## ${CHECKLIST_HEADING}"`
    return [stray(line.trim(), from + start, why)]
  })
}

interface LineAt {
  line: string
  start: number
  next: number
}

function headingLine(
  { start, next }: Parsed['headings'][number],
  text: string,
  from: number,
): LineAt {
  return { line: linesOf(text, from + start).next().value?.text ?? '', start, next }
}

function lastOf({ text, start }: ParsedLines): LineAt {
  return { line: lastLine(text), start, next: start + text.length }
}

function lastLine(text: string): string {
  return [...linesOf(text)].at(-1)?.text ?? ''
}

/** Whether a list follows at this offset. */
function hasListAt({ items }: Parsed, text: string, at: number, from: number): boolean {
  const item = items.find(({ start }) => from + start >= at)
  return item !== undefined && text.slice(at, from + item.start).trim() === ''
}

function stray(text: string, start: number, why: string): StrayLine {
  return {
    description: text,
    type: null,
    required: true,
    checked: false,
    unclear: true,
    start,
    why,
  }
}
