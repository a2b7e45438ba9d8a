import { AppError } from '../model/app-error.ts'
import { isSameItem } from '../model/frozen-values.ts'
import type { ChecklistItem } from '../model/gate.ts'
import type { Problem } from '../model/problem.ts'
import { looksRequired, readItem } from './checklist-item.ts'
import {
  CHECKLIST_HEADING,
  type Checklist,
  checklistIn,
  isNearHeading,
  type PlacedItem,
  parsedChecklist,
  type Range,
  shortened,
} from './checklist-parse.ts'
import { lineAt, linesOf, trimBlanks } from './lines.ts'
import { closesFence, mayHideLines, OPENING } from './outline.ts'
import {
  gapAtEnd,
  LEAD,
  readEdited,
  readSections,
  type Sectioned,
  type SectionLayout,
  sectionText,
} from './sections.ts'

/** Reads the checklist of a text; null if the text is too complex to parse. */
export async function readChecklist(
  text: string,
  layout: SectionLayout,
): Promise<Checklist | null> {
  const sections = await readSections(text, layout)
  return sections && checklistOf(sections)
}

/** Same, for a text whose sections are known. */
export async function checklistOf(sections: Sectioned): Promise<Checklist | null> {
  const range = checklistIn(sections)
  const items = range ? shortItems(sections.text, range.from) : []
  if (items && !mayContainStrays(sections, range)) return { items, strays: [] }
  return parsedChecklist(sections)
}

/** Returns the items that count. Unreadable ones are required without a type, so that no proof satisfies them. */
export function countedItems({ items, strays }: Checklist): ChecklistItem[] {
  return [...items, ...strays].map(bare)
}

/** Returns a problem for each line that says "required" in an unclear form. */
export function checklistProblems(
  text: string,
  file: string,
  { items, strays }: Checklist,
): Problem[] {
  const form =
    'write it as "- [ ] <what> (<type>, required)", such as "- [ ] Tests pass (test-log, required)"'
  const unread = items
    .filter(({ unclear }) => unclear)
    .map(({ start, description }) => ({
      start,
      why: `"${shortened(description)}" says that it is required, but does not name exactly one proof type: ${form}`,
    }))
  return [...unread, ...strays].map(({ start, why }) => ({
    code: 'bad_checklist',
    file,
    line: lineAt(text, start),
    message: `${why}; the proof gate is shut until then`,
  }))
}

const ITEM = /^[-*+] \[([ xX])\] +(\S.*)$/

/** Returns the items of a section with only simple item lines; null if it has other lines. */
export function shortItems(text: string, from: number): PlacedItem[] | null {
  const items: PlacedItem[] = []
  for (const line of linesOf(text, from)) {
    if (/^[ \t]*$/.test(line.text)) continue
    if (/^#{1,2}[ \t]/.test(line.text)) break
    const match = ITEM.exec(line.text)
    if (!match) return null
    const read = readItem(trimBlanks(match[2]!), match[1] !== ' ')
    items.push({ ...read, start: line.start, next: line.next })
  }
  return items
}

/** Whether a line outside the checklist may need the parser. */
function mayContainStrays({ text, ranges }: Sectioned, range: Range | undefined): boolean {
  const end = range ? endOfItems(text, range.from) : 0
  let fence: string | null = null
  let isSure = true
  for (const line of linesOf(text, ranges[0]!.from)) {
    if (range && line.start >= range.start && line.start < end) continue
    if (fence !== null) {
      if (closesFence(line.text, fence)) fence = null
      continue
    }
    if (mayHideLines(line.text)) isSure = false // whether what follows is in a fence is open
    if (isSure) fence = OPENING.exec(line.text)?.[1] ?? null
    if (isNearHeading(line.text)) return true
    if (/required/i.test(line.text) && looksRequired(line.text, true)) return true
  }
  return false
}

/** Returns the end of the items: the next heading of depth 1 or 2. */
function endOfItems(text: string, from: number): number {
  for (const line of linesOf(text, from)) if (/^#{1,2}[ \t]/.test(line.text)) return line.start
  return text.length
}

/** Appends an item, under a new heading if there is none. */
export async function withItem(
  text: string,
  layout: SectionLayout,
  item: Omit<ChecklistItem, 'checked' | 'type'> & { type: string },
): Promise<string> {
  const before = await readSections(text, layout)
  const items = before && (await checklistOf(before))?.items
  if (!before || !items) throw unwritable('the file is too complex to parse')
  const { eol, ranges } = before
  const line = `- [ ] ${item.description} (${item.type}${item.required ? ', required' : ''})${eol}`
  const range = ranges.find((each) => each.name === CHECKLIST_HEADING)
  const last = items.at(-1)
  let edited: string
  if (!range) {
    const head = text + gapAtEnd(text, eol)
    edited = `${head}## ${CHECKLIST_HEADING}${eol}${eol}${line}`
  } else if (last) {
    const head = text.slice(0, last.next)
    edited = head + (/[\r\n]$/.test(head) ? '' : eol) + line + text.slice(last.next)
  } else {
    const head = text.slice(0, range.from)
    const rest = text.slice(range.from).replace(/^\r?\n/, '')
    edited = `${head}${/[\r\n]$/.test(head) ? '' : eol}${eol}${line}${/^[ \t\r\n]*$/.test(rest) ? '' : eol}${rest}`
  }
  const after = await readEdited(before, edited, layout)
  const now = after && (await checklistOf(after))?.items
  const wanted = [...items.map(bare), { ...item, checked: false }]
  if (!after || !now || JSON.stringify(now.map(bare)) !== JSON.stringify(wanted)) {
    throw unwritable('the line would not read back as one item')
  }
  if (sectionText(after, LEAD) !== sectionText(before, LEAD)) {
    throw unwritable('the description has an HTML comment or fence that is not closed')
  }
  return edited
}

/** The box of an item, also as people type it. */
const OPEN_BOX = /^((?:[-*+]|\d{1,9}[.)])[ \t]+\[)[ \t]{0,3}(?=\](?!\())/

/** Ticks the boxes of items that are open. It changes nothing else, and leaves an item without a box as it is. */
export async function withTicks(
  text: string,
  layout: SectionLayout,
  wanted: readonly ChecklistItem[],
): Promise<string> {
  const items = (await readChecklist(text, layout))?.items ?? []
  const open = items.filter(
    (item) => !item.checked && wanted.some((each) => isSameItem(each, item)),
  )
  // from the end, as a box may get longer
  return open.reduceRight(
    (edited, { start }) => edited.slice(0, start) + edited.slice(start).replace(OPEN_BOX, '$1x'),
    text,
  )
}

export function bare({ description, type, required, checked }: ChecklistItem): ChecklistItem {
  return { description, type, required, checked }
}

function unwritable(why: string): AppError {
  return new AppError('unreadable_file', `The checklist item cannot be added: ${why}.`)
}
