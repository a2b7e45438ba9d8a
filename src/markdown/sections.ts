import { AppError } from '../model/app-error.ts'
import { conflictLine } from './conflict-markers.ts'
import { type LineEnding, lineEnding } from './lines.ts'
import { type Heading, type OptionalHeading, outline } from './outline.ts'

/** Which part of a file has sections, and their headings. */
export interface SectionLayout {
  names: readonly string[]
  /** Sections whose heading may also be part of another section's text. */
  optional?(text: string): OptionalHeading[]
  /** Whether a text that does not disturb the sections may be written without a fence; if missing, it may. */
  isPlain?(text: string): boolean
  /**
   * Start and end of the part with sections; null if the file is unreadable. `bodyStart` is where its body begins, if
   * the caller knows.
   */
  bounds(text: string, bodyStart?: number): { from: number; to: number } | null
  /** Whether text written into a section without a fence has no meaning for the rest of the file. */
  isContained?(after: Sectioned, name: string): Promise<boolean>
}

/** The text before the first reserved heading. */
export const LEAD = ''

interface SectionRange {
  name: string
  /** Start of the heading line, or of the text before the first heading. */
  start: number
  from: number
  to: number
  last: boolean
}

export interface Sectioned {
  text: string
  eol: LineEnding
  ranges: SectionRange[]
}

/**
 * Finds the sections; null if the text is too complex to parse or the file is unreadable. `bodyStart` as for
 * `bounds`.
 */
export async function readSections(
  text: string,
  layout: SectionLayout,
  bodyStart?: number,
): Promise<Sectioned | null> {
  const bounds = layout.bounds(text, bodyStart)
  if (!bounds) return null
  const body = text.slice(bounds.from, bounds.to)
  const headings = await outline(body, layout.names, layout.optional?.(text))
  return headings && sectioned(text, bounds, headings)
}

function sectioned(
  text: string,
  bounds: { from: number; to: number },
  headings: readonly Heading[],
): Sectioned {
  const starts = [...headings.map((heading) => bounds.from + heading.start), bounds.to]
  const range = (name: string, start: number, from: number, index: number): SectionRange => ({
    name,
    start,
    from,
    to: starts[index]!,
    last: starts[index] === text.length,
  })
  return {
    text,
    eol: lineEnding(text),
    ranges: [
      range(LEAD, bounds.from, bounds.from, 0),
      ...headings.map(({ name, start, next }, index) =>
        range(name, bounds.from + start, bounds.from + next, index + 1),
      ),
    ],
  }
}

/** `readSections` for an edited text that is unchanged before its body. */
export function readEdited(
  { ranges }: Sectioned,
  text: string,
  layout: SectionLayout,
): Promise<Sectioned | null> {
  const { from } = ranges[0]!
  const hasFront = from > 1 // without frontmatter, an edit at the start of the body can create one
  return readSections(text, layout, hasFront ? from : undefined)
}

/** Returns the text of a section; null without its heading. */
export function sectionText(sections: Sectioned, name: string): string | null {
  const range = sections.ranges.find((each) => each.name === name)
  if (!range) return null
  return regionText(sections.text.slice(range.from, range.to), range.last, sections.eol)
}

/**
 * Replaces the text of one section and keeps every other byte: without a fence if re-reading gives exactly this text
 * and its neighbours, else in a verbatim fence.
 */
export async function withSection(
  text: string,
  layout: SectionLayout,
  name: string,
  value: string,
): Promise<string> {
  const present = await readSections(text, layout)
  if (!present) throw unwritable(name)
  if ((sectionText(present, name) ?? '') === value) return text
  const { head, tail, last } = opening(present, layout, name)
  const isPlain = layout.isPlain?.(value) ?? true
  for (const region of isPlain ? [plainRegion, verbatimRegion] : [verbatimRegion]) {
    const candidate = head + region(value, last, present.eol) + tail
    if (await isPreserved(present, candidate, layout, name, value)) return candidate
  }
  throw unwritable(name)
}

/**
 * Edits the text below a heading as it is in the file, and keeps every other byte. A heading that is missing is added
 * for it, and one without any text left is removed.
 */
export async function withRegion(
  text: string,
  layout: SectionLayout,
  name: string,
  edit: (region: string, eol: LineEnding) => string,
): Promise<string> {
  const present = await readSections(text, layout)
  if (!present) throw unwritable(name)
  const { eol } = present
  const range = present.ranges.find((each) => each.name === name)
  const { head, tail, last } = opening(present, layout, name)
  const region = range ? text.slice(range.from, range.to) : ''
  const edited = edit(region, eol)
  if (edited === region) return text
  const isEmpty = edited.trim() === ''
  const ends = range && region.trim() !== '' ? edited : plainRegion(edited.trimEnd(), last, eol)
  const candidate = isEmpty ? withoutGap(text, range?.start, last, eol) + tail : head + ends + tail
  const value = isEmpty ? null : regionText(ends, last, eol)
  if (await isPreserved(present, candidate, layout, name, value)) return candidate
  throw unwritable(name)
}

/** Returns the text before a heading that is removed, without the blank line that was added for it at the end. */
function withoutGap(text: string, to: number | undefined, last: boolean, eol: LineEnding): string {
  const before = text.slice(0, to)
  return last && before.endsWith(eol + eol) ? before.slice(0, -eol.length) : before
}

function opening(
  present: Sectioned,
  layout: SectionLayout,
  name: string,
): { head: string; tail: string; last: boolean } {
  const { text, eol, ranges } = present
  const range = ranges.find((each) => each.name === name)
  if (range) {
    return { head: text.slice(0, range.from), tail: text.slice(range.to), last: range.last }
  }
  const following = layout.names.slice(layout.names.indexOf(name) + 1)
  const next = ranges.find((each) => following.includes(each.name))
  const at = next ? next.start : ranges.at(-1)!.to
  const before = text.slice(0, at)
  const last = at === text.length
  const gap = !last && before.endsWith(eol + eol) ? '' : gapAtEnd(before, eol)
  return { head: `${before}${gap}## ${name}${eol}`, tail: text.slice(at), last }
}

/**
 * Returns the line ends needed before a new heading at the end. A blank line that is already there belongs to the
 * last section, so one more is needed.
 */
export function gapAtEnd(text: string, eol: LineEnding): string {
  if (text === '') return ''
  return /[\r\n]$/.test(text) ? eol : eol + eol
}

/** Whether the candidate reads back with the new text and all other sections unchanged. */
async function isPreserved(
  before: Sectioned,
  candidate: string,
  layout: SectionLayout,
  name: string,
  value: string | null,
): Promise<boolean> {
  if (conflictLine(candidate) !== null && conflictLine(before.text) === null) return false
  const after = await readEdited(before, candidate, layout)
  if (!after || sectionText(after, name) !== value) return false
  const names = new Set([...before.ranges, ...after.ranges].map((range) => range.name))
  names.delete(name)
  for (const other of names) {
    if (sectionText(before, other) !== sectionText(after, other)) return false
  }
  if (layout.isContained && !(await layout.isContained(after, name))) return false
  return closed(after, layout, name)
}

/** Whether a heading appended later would be found: the last text must not end in an open fence. */
async function closed(after: Sectioned, layout: SectionLayout, name: string): Promise<boolean> {
  const range = after.ranges.at(-1)!
  const present = [...after.ranges, ...(layout.optional?.(after.text) ?? [])]
  const absent = layout.names.find((each) => !present.some((other) => other.name === each))
  if (range.name !== name || absent === undefined) return true
  const { text, eol } = after
  const head = text.slice(0, range.to)
  const heading = `${gapAtEnd(head, eol)}## ${absent}${eol}${eol}`
  const probe = await readEdited(after, head + heading + text.slice(range.to), layout)
  return probe?.ranges.some((each) => each.name === absent) ?? false
}

function unwritable(name: string): AppError {
  const part = name === LEAD ? 'the description' : `"## ${name}"`
  return new AppError(
    'unreadable_file',
    `${part} cannot be written without changing other parts of the file: probably an HTML comment or a fence is left open there. Nothing was written; close it in an editor and try again.`,
  )
}

/**
 * Returns a section's text, which is between one blank line after its heading and one before the next heading; the
 * last section ends with the file's last line ending. This and the functions below are inverse: text in a `verbatim`
 * fence, and any other section text, comes back exactly.
 */
export function regionText(region: string, last: boolean, eol: LineEnding): string {
  let text = region.startsWith(eol) ? region.slice(eol.length) : region.replace(/^[\r\n]/, '')
  text = withoutEnding(text, eol)
  if (!last) text = withoutEnding(text, eol)
  const verbatim = verbatimText(text, eol)
  if (verbatim !== null) return verbatim
  const plain = text.replaceAll('\r\n', '\n')
  // all sections of a CRLF file use CRLF; callers see and send LF
  return eol === '\r\n' && !plain.includes('\r') && !/(?<!\r)\n/.test(text) ? plain : text
}

/** Returns the region for `text` without a fence. Only re-reading the whole file shows whether that is safe. */
export function plainRegion(text: string, last: boolean, eol: LineEnding): string {
  if (text === '') return last ? '' : eol
  const lines = eol === '\r\n' && !text.includes('\r') ? text.replaceAll('\n', '\r\n') : text
  return eol + lines + (last ? eol : eol + eol)
}

/** Returns a region for any text: one fence, longer than every run of backticks in it. */
export function verbatimRegion(text: string, last: boolean, eol: LineEnding): string {
  const fence = fenceFor(text)
  return `${eol}${fence}verbatim${eol}${text}${eol}${fence}${last ? eol : eol + eol}`
}

/** Returns a fence of this character that no line of the text can close. */
export function fenceFor(text: string, character: '`' | '~' = '`'): string {
  let longest = 2
  let run = 0
  for (let at = text.indexOf(character); at >= 0; ) {
    run++
    longest = Math.max(longest, run)
    const next = text.indexOf(character, at + 1)
    if (next !== at + 1) run = 0
    at = next
  }
  return character.repeat(longest + 1)
}

const VERBATIM = /^(`{3,})verbatim[ \t]*(?:\r\n|\n|\r)/

/** Returns the content if the whole text is one verbatim fence, else null. */
function verbatimText(text: string, eol: LineEnding): string | null {
  const opening = VERBATIM.exec(text)
  if (!opening) return null
  const fence = opening[1]!
  if (!text.endsWith(fence)) return null
  const content = text.slice(opening[0].length, -fence.length)
  if (content !== '' && !/[\r\n]$/.test(content)) return null
  const inner = withoutEnding(content, eol)
  return inner.includes(fence) ? null : inner
}

function withoutEnding(text: string, eol: LineEnding): string {
  if (text.endsWith(eol)) return text.slice(0, -eol.length)
  return /[\r\n]$/.test(text) ? text.slice(0, -1) : text
}
