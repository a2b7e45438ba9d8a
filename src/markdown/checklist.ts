import type { ChecklistItem } from '../model/gate.ts'
import { Refusal } from '../model/refusal.ts'
import { linesOf, trimBlanks } from './lines.ts'
import { parsedMarkdown } from './parser-pool.ts'
import {
  gapAtEnd,
  LEAD,
  readEdited,
  readSections,
  type Sectioned,
  type SectionLayout,
  sectionText,
} from './sectioned.ts'

export const CHECKLIST_HEADING = 'Proof checklist'

export interface PlacedItem extends ChecklistItem {
  /** Offset after the item's last line ending. */
  next: number
}

/** The items below the heading; null when the text is too complex to parse. */
export async function readChecklist(
  text: string,
  layout: SectionLayout,
): Promise<PlacedItem[] | null> {
  const sections = await readSections(text, layout)
  return sections && itemsIn(sections)
}

/** The same for a text whose sections were found already. */
export async function itemsIn(sections: Sectioned): Promise<PlacedItem[] | null> {
  return itemsNow(sections) ?? parsedItems(sections, checklistIn(sections)!.from)
}

/** The same at once; null where only the parser, in its worker, can be sure. */
export function itemsNow(sections: Sectioned): PlacedItem[] | null {
  const range = checklistIn(sections)
  return range ? shortItems(sections.text, range.from) : []
}

function checklistIn({ ranges }: Sectioned): Sectioned['ranges'][number] | undefined {
  return ranges.find((each) => each.name === CHECKLIST_HEADING)
}

const ITEM = /^[-*+] \[([ xX])\] +(\S.*)$/

/** The items of a section that holds nothing but simple item lines; null where it holds more. */
export function shortItems(text: string, from: number): PlacedItem[] | null {
  const items: PlacedItem[] = []
  for (const line of linesOf(text, from)) {
    if (/^[ \t]*$/.test(line.text)) continue
    if (/^#{1,2}[ \t]/.test(line.text)) break
    const match = ITEM.exec(line.text)
    if (!match) return null
    items.push({ ...itemOf(trimBlanks(match[2]!), match[1] !== ' '), next: line.next })
  }
  return items
}

/** The same by remark: until the next heading of depth 1 or 2, nested and wrapped items included. */
export async function parsedItems(
  { text, ranges }: Sectioned,
  from: number,
): Promise<PlacedItem[] | null> {
  const bounds = { from: ranges[0]!.from, to: ranges.at(-1)!.to }
  const parsed = await parsedMarkdown(text.slice(bounds.from, bounds.to))
  if (!parsed) return null
  const first = from - bounds.from
  const following = parsed.headings.find(({ depth, start }) => depth <= 2 && start >= first)
  const end = following ? following.start : Number.POSITIVE_INFINITY
  return parsed.tasks
    .filter((task) => task.start >= first && task.start < end && task.text !== '')
    .map((task) => ({
      ...itemOf(oneLine(task.text), task.checked),
      next: linesOf(text, bounds.from + task.end).next().value?.next ?? text.length,
    }))
}

function itemOf(text: string, checked: boolean): ChecklistItem {
  const at = text.lastIndexOf('(')
  const match = /^\(([a-z0-9][a-z0-9._-]{0,63})(?:,[ \t]*(required|optional))?\)$/.exec(
    text.slice(at),
  )
  const description = trimBlanks(text.slice(0, at))
  if (!match || description === '') {
    return { description: text, type: null, required: false, checked }
  }
  return { description, type: match[1]!, required: match[2] === 'required', checked }
}

/** A wrapped item as the one line that it means. */
function oneLine(text: string): string {
  return [...linesOf(text)].map((line) => trimBlanks(line.text)).join(' ')
}

/** The file with one item appended, under a new heading where there is none yet. */
export async function withItem(
  text: string,
  layout: SectionLayout,
  item: Omit<ChecklistItem, 'checked' | 'type'> & { type: string },
): Promise<string> {
  const before = await readSections(text, layout)
  const items = before && (await itemsIn(before))
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
  const now = after && (await itemsIn(after))
  const wanted = [...items.map(bare), { ...item, checked: false }]
  if (!after || !now || JSON.stringify(now.map(bare)) !== JSON.stringify(wanted)) {
    throw unwritable('the line would not be read back as one item')
  }
  if (sectionText(after, LEAD) !== sectionText(before, LEAD)) {
    throw unwritable('the description would change: an HTML comment or fence is left open in it')
  }
  return edited
}

export function bare({ description, type, required, checked }: ChecklistItem): ChecklistItem {
  return { description, type, required, checked }
}

function unwritable(why: string): Refusal {
  return new Refusal('unreadable_file', `The checklist item cannot be added: ${why}.`)
}
