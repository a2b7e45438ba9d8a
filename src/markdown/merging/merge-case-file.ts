import { CASE_LAYOUT, readCase } from '../case-file.ts'
import { checklistOf } from '../checklist.ts'
import { checklistIn } from '../checklist-parse.ts'
import { findBodyStart, readDocument } from '../document.ts'
import { withFields } from '../field-edit.ts'
import { lineEnding } from '../lines.ts'
import { choose, type Versions } from '../merge.ts'
import { mergeKeys, splitAtBody } from '../merge-record.ts'
import { readSections } from '../sections.ts'
import { type MergedText, mergeText, withLineEnd } from './merge-text.ts'

/**
 * Merges a case.md: fields by key, tags as a set, checklist items by their text, all else by lines. Where both changed
 * the same, ours stays. Null if the result is not a readable case with all its items.
 */
export async function mergeCaseFile(versions: Versions, id: string): Promise<MergedText | null> {
  const chosen = choose(versions)
  if (chosen !== null) return { text: chosen, isLossy: false }
  const parts = splitAtBody(versions)
  const head = parts && mergeHead(parts[0])
  const body = parts && (await mergeBody(versions, parts[1]))
  if (!head || !body) return null
  const text = withTags(withLineEnd(head.text, body.text) + body.text, versions)
  const read = await readCase(text, { id, created_at: new Date(0).toISOString() })
  const isWhole = read.value !== null && read.value.checklist.length >= body.items
  return isWhole ? { text, isLossy: head.isLossy || body.isLossy } : null
}

/** These tell why the state is what it is, so they come from the side that set it. */
const WITH_STATE: readonly string[] = ['reason', 'outcome']

function mergeHead(heads: Versions): MergedText | null {
  const chosen = choose(heads)
  if (chosen !== null) return { text: chosen, isLossy: false }
  let isLossy = false
  let isOurState = false
  const text = mergeKeys(heads, (lines, key) => {
    const block = choose(lines) ?? (key === 'state' ? furtherState(lines) : null)
    const isOurs = block === null || (isOurState && WITH_STATE.includes(key))
    if (!isOurs) return block
    if (key === 'state') isOurState = true
    if (key !== 'tags' && lines.theirs !== lines.base && lines.theirs !== lines.ours) isLossy = true
    return lines.ours
  })
  return text === null ? null : { text, isLossy }
}

/** The states that sessions move a case through, in order. */
const MOVED: readonly string[] = ['OPEN', 'INVESTIGATING', 'PLANNING', 'IMPLEMENTING', 'VERIFYING']

/** If sessions of both sides moved the case on, it is as far as the further one. */
function furtherState({ base, ours, theirs }: Versions): string | null {
  const stepOf = (line: string) => MOVED.indexOf(/^state:[ \t]*([A-Z]+)\s*$/.exec(line)?.[1] ?? '')
  const [was, own, other] = [stepOf(base), stepOf(ours), stepOf(theirs)]
  if (was < 0 || own <= was || other <= was) return null
  return own > other ? ours : theirs
}

/** Sets the tags that either side added, without those that either removed, if both changed them. */
function withTags(text: string, versions: Versions): string {
  const tags = [versions.base, versions.ours, versions.theirs, text].map(tagsIn)
  const [base = [], ours = [], theirs = [], present = []] = tags
  if (choose({ base: `${base}`, ours: `${ours}`, theirs: `${theirs}` }) !== null) return text
  const kept = ours.filter((tag) => theirs.includes(tag) || !base.includes(tag))
  const added = theirs.filter((tag) => !base.includes(tag) && !ours.includes(tag))
  const merged = [...kept, ...added]
  return `${merged}` === `${present}` ? text : withFields(text, [['tags', merged]])
}

function tagsIn(text: string): string[] {
  const read = readDocument(text)
  const tags = read.ok ? read.document.fields?.get('tags')?.value : null
  return Array.isArray(tags) ? tags.map(String) : []
}

interface Body {
  /** The description, without the blank lines that end it. */
  lead: string
  gap: string
  /** From the heading of the checklist to the first item. */
  heading: string
  /** The items, each with the lines up to the next one. */
  items: string[]
  after: string
}

async function mergeBody(
  versions: Versions,
  bodies: Versions,
): Promise<(MergedText & { items: number }) | null> {
  const base = await bodyOf(versions.base)
  const ours = await bodyOf(versions.ours)
  const theirs = await bodyOf(versions.theirs)
  if (!base || !ours || !theirs) return { ...mergeText(bodies), items: 0 }
  const lead = mergeText(ofEach((body) => (body.lead === '' ? '' : `${body.lead}\n`)))
  const after = mergeText(ofEach((body) => body.after))
  const items = mergeItems(base.items, ours.items, theirs.items)
  const list = items.reduceRight((rest, item) => withLineEnd(item, rest) + rest, after.text)
  const heading = list.trim() === '' ? ours.heading : ours.heading || theirs.heading
  const newest = choose(ofEach((body) => body.heading)) ?? heading
  const used = newest === '' ? heading : newest
  const gap = choose(ofEach((body) => body.gap)) ?? ours.gap
  const eol = lineEnding(versions.ours)
  const rest = used + list
  const isApart = rest === '' || lead.text === '' || gap.split('\n').length > 2
  return {
    text: lead.text.replace(/\n$/, '') + (isApart ? gap : `${eol}${eol}`) + rest,
    isLossy: lead.isLossy || after.isLossy,
    items: items.length,
  }

  function ofEach(part: (body: Body) => string): Versions {
    return { base: part(base!), ours: part(ours!), theirs: part(theirs!) }
  }
}

/** Null if the checklist is more than a plain list, or the text is too complex to parse. */
async function bodyOf(text: string): Promise<Body | null> {
  const sections = await readSections(text, CASE_LAYOUT)
  const checklist = sections && (await checklistOf(sections))
  if (!checklist) return null
  const range = checklistIn(sections)
  const { items } = checklist
  const first = range ? (items[0]?.start ?? range.from) : text.length
  const starts = items.map(({ start }) => start)
  const ends = items.map(({ next }, index) => starts[index + 1] ?? next)
  const isPlain = items.every(
    ({ start, next }, index) =>
      (start === 0 || text[start - 1] === '\n') &&
      next <= ends[index]! &&
      text.slice(next, ends[index]).trim() === '',
  )
  if (!isPlain) return null
  const whole = text.slice(findBodyStart(text) ?? 0, range?.start)
  const lead = whole.trimEnd()
  return {
    lead,
    gap: whole.slice(lead.length),
    heading: range ? text.slice(range.start, first) : '',
    items: starts.map((start, index) => text.slice(start, ends[index])),
    after: range ? text.slice(ends.at(-1) ?? first) : '',
  }
}

/**
 * Merges items by text: an edited item is one removed and one added. An item that one side removed and the other
 * ticked stays. New items of theirs follow the item that they follow there.
 */
function mergeItems(base: string[], ours: string[], theirs: string[]): string[] {
  const [before, own, other] = [byText(base), byText(ours), byText(theirs)]
  const order = [...own.keys()]
  const wanted = [...other.keys()]
  for (const [index, text] of wanted.entries()) {
    if (own.has(text)) continue
    const above = wanted[index - 1]
    order.splice(above === undefined ? 0 : order.indexOf(above) + 1, 0, text)
  }
  return order.flatMap((text) => {
    const [was, is, theirItem] = [before.get(text), own.get(text), other.get(text)]
    if (is !== undefined && theirItem !== undefined) {
      const isTheirs = was !== undefined && isSameItem(was, is) && !isSameItem(is, theirItem)
      return [isTheirs ? theirItem : is]
    }
    const item = is ?? theirItem!
    return was !== undefined && isSameItem(was, item) ? [] : [item]
  })
}

/** Items by their text without the box; equal ones by their position among them. */
function byText(items: string[]): Map<string, string> {
  const found = new Map<string, string>()
  for (const item of items) {
    const text = item.replace(/^[-*+][ \t]+\[[^\]\n]*\]/, '').trim()
    let nth = 1
    while (found.has(`${nth} ${text}`)) nth++
    found.set(`${nth} ${text}`, item)
  }
  return found
}

function isSameItem(a: string, b: string): boolean {
  return a.trim() === b.trim()
}
