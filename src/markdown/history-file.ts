import { type Act, type Actor, type HistoryEntry, kindOf, sessionIn } from '../model/history.ts'

/** So that a person can read the file. Longer lines of older versions are read as they are. */
const MAX_LINE = 300
const MAX_WHAT = 160
export const MAX_WHO = 100
/** Below the line of an act, each of these holds a line of its text, or goes on with the one above. */
const TEXT_LINE = '  '
const MORE_OF_LINE = '    '

const HEADING = '# History'
const BETWEEN = ' · '
const LINE = /^- (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z) · (.+)$/
/** Replaces line breaks in a text. */
export const LINE_BREAK = ' ⏎ '

/**
 * Returns the line of an act, which is read back as this act. A text that is too long for it is cut; all of it follows
 * in indented lines, unless the file of the session has it.
 */
export function historyLine(act: Act, { who }: Pick<Actor, 'who'>, at: string): string {
  const words = [at, partOf(act.who ?? who, MAX_WHO) || 'unknown', partOf(act.what, MAX_WHAT)]
  const head = `- ${words.join(BETWEEN)}`
  const text = oneLine(act.text ?? '')
  if (text === '') return head
  const room = MAX_LINE - head.length - BETWEEN.length
  const line = `${head}${BETWEEN}${bounded(text, room)}`
  if (text.length <= room || /^session \d+ /.test(act.what)) return line
  return [line, ...text.split(LINE_BREAK).map(indented)].join('\n')
}

function indented(line: string): string {
  const parts: string[] = []
  for (let rest = line; rest !== ''; ) {
    const part = rest.slice(0, partEnd(rest, MAX_LINE - MORE_OF_LINE.length))
    parts.push(part)
    rest = rest.slice(part.length)
  }
  return `${TEXT_LINE}${parts.join(`\n${MORE_OF_LINE}`)}`
}

/** Breaks before a space, where there is one, and within no character. */
function partEnd(text: string, most: number): number {
  if (text.length <= most) return text.length
  const space = text.lastIndexOf(' ', most)
  if (space > 0) return space
  return most - (isWithin(text, most) ? 1 : 0)
}

/** Whether the place is within a character of two code units. */
function isWithin(text: string, place: number): boolean {
  return text.codePointAt(place - 1)! > 0xffff
}

/** Removes the separator from a part, so that the line can be split again. */
function partOf(text: string, most: number): string {
  return bounded(oneLine(text).replaceAll('·', '‧'), most)
}

/** Control characters and characters that change text direction, which would disguise a line. */
const UNSEEN = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/gu

export function oneLine(text: string): string {
  return text
    .toWellFormed()
    .trim()
    .replace(/(?<![ \t])[ \t]*(?:\r\n?|[\n\v\f\u0085\u2028\u2029])\s*/g, LINE_BREAK)
    .replaceAll('\t', ' ')
    .replace(UNSEEN, '')
    .trim()
}

function bounded(text: string, most: number): string {
  if (text.length <= most) return text
  const end = Math.max(most - 1, 0)
  return `${text.slice(0, isWithin(text, end) ? end - 1 : end)}…`
}

/** Appends lines to the text of the file; lines that it already has are not repeated. */
export function withHistory(present: string | null, lines: readonly string[]): string {
  if (present === null) return `${HEADING}\n\n${lines.map((line) => `${line}\n`).join('')}`
  const eol = /\r\n/.test(present) ? '\r\n' : '\n'
  const known = new Set(linesOf(present))
  const added = lines
    .filter((line) => !known.has(line.split('\n')[0]!))
    .map((line) => line.replaceAll('\n', eol))
  if (added.length === 0) return present
  const isBlank = present.replace('\ufeff', '').trim() === ''
  const start = isBlank ? `${HEADING}${eol}${eol}` : /[\r\n]$/.test(present) ? '' : eol
  return `${present}${start}${added.map((line) => `${line}${eol}`).join('')}`
}

function linesOf(text: string): string[] {
  return text.split(/\r\n|\n|\r/)
}

/**
 * Reads the entries of a history.md, oldest first: a merge may have put the lines of two branches in sequence, or
 * duplicated lines. Other lines are notes and stay where they are.
 */
export function readHistory(
  text: string,
  isOwn: (line: string) => boolean = () => false,
  isGits: (line: string) => boolean = () => false,
): HistoryEntry[] {
  const seen = new Set<string>()
  const groups: { at: string; entries: HistoryEntry[] }[] = [{ at: '', entries: [] }]
  let open: HistoryEntry | null = null
  for (const { lines, entry } of partsOf(text)) {
    const line = lines[0]!
    if (line.trim() === '' || /^#\s+history\s*$/i.test(line)) {
      open = null
      continue
    }
    if (entry) {
      const whole = lines.join('\n')
      entry.recorded = isOwn(whole)
      entry.source = entry.recorded ? 'service' : isGits(whole) ? 'git' : 'file'
      open = null
      if (!seen.has(line)) groups.push({ at: entry.at!, entries: [entry] })
      seen.add(line)
    } else if (open) {
      open.what += `\n${line}`
    } else {
      open = noteOf(line)
      groups.at(-1)!.entries.push(open)
    }
  }
  groups.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0))
  const entries = groups.flatMap((group) => group.entries)
  const first = entries.findIndex(({ recorded }) => recorded)
  for (const entry of first < 0 ? entries : entries.slice(0, first))
    if (entry.source === 'file') entry.source = 'unknown'
  return entries
}

/** Splits the file into acts, each with the lines of its text, and other lines. */
function partsOf(text: string): { lines: string[]; entry: HistoryEntry | null }[] {
  const lines = linesOf(text.replace(/^\ufeff/, ''))
  const parts: ReturnType<typeof partsOf> = []
  for (let index = 0; index < lines.length; ) {
    const entry = entryOf(lines[index]!)
    const end = index + 1 + (entry ? readWholeText(entry, lines, index + 1) : 0)
    parts.push({ lines: lines.slice(index, end), entry })
    index = end
  }
  return parts
}

/** Takes the whole text of a cut one from the lines below it. Returns how many lines these are. */
function readWholeText(entry: HistoryEntry, lines: readonly string[], from: number): number {
  if (!entry.text?.endsWith('…')) return 0
  let text = ''
  let to = from
  for (; lines[to]?.startsWith(TEXT_LINE); to++) {
    const isMore = to > from && lines[to]!.startsWith(MORE_OF_LINE)
    if (isMore) text += lines[to]!.slice(MORE_OF_LINE.length)
    else text += `${to > from ? '\n' : ''}${lines[to]!.slice(TEXT_LINE.length)}`
  }
  // else a person has indented their own lines
  if (!oneLine(text).startsWith(oneLine(entry.text.slice(0, -1)))) return 0
  entry.text = text
  return to - from
}

/** Parses an act of the service; null for any other line. */
function entryOf(line: string): HistoryEntry | null {
  const [, at, rest = ''] = LINE.exec(line) ?? []
  if (at === undefined || Number.isNaN(Date.parse(at))) return null
  const [who = '', what = '', ...texts] = rest.split(BETWEEN)
  const kind = kindOf(what)
  if (kind === null) return null
  const text = texts.length > 0 ? texts.join(BETWEEN).replaceAll(LINE_BREAK, '\n') : null
  return { at, who, what, text, kind, session: sessionIn(what), recorded: false, source: 'file' }
}

/** Parses a person's line, which may have the time and name of an act. */
function noteOf(line: string): HistoryEntry {
  const [, at = null, rest = ''] = LINE.exec(line) ?? []
  const [who = null, ...words] = at === null ? [] : rest.split(BETWEEN)
  const isSigned = words.length > 0
  const what = isSigned ? words.join(BETWEEN) : line.replace(/^[-*] /, '')
  return {
    at,
    who: isSigned ? who : null,
    what,
    text: null,
    kind: 'note',
    session: null,
    recorded: false,
    source: 'file',
  }
}

/** Returns the acts of a history.md, each with the lines of its text. */
export function actLines(text: string): string[] {
  return partsOf(text)
    .filter(({ entry }) => entry !== null)
    .map(({ lines }) => lines.join('\n'))
}

/** Returns the text for a prompt: the newest entries that fit, and each question with its answer. */
export function newestHistory(text: string, maxBytes: number): string {
  const entries = readHistory(text)
  const lines = entries.map((entry) => bounded(lineOf(entry), MAX_PROMPT_LINE))
  const isKept = entries.map(({ kind }) => kind === 'question' || kind === 'answer')
  let room = maxBytes
  const taken = new Set<number>()
  const take = (index: number) => {
    if (taken.has(index)) return true
    const bytes = Buffer.byteLength(lines[index]!) + 1
    if (bytes > room) return false
    taken.add(index)
    room -= bytes
    return true
  }
  const backwards = [...lines.keys()].reverse()
  for (const index of backwards.filter((each) => isKept[each]).slice(0, MOST_QUESTIONS)) take(index)
  for (const index of backwards) if (!take(index)) break
  const kept = lines.filter((_, index) => taken.has(index))
  const left = lines.length - kept.length
  return [...(left > 0 ? [`(${left} older entries are left out)`] : []), ...kept].join('\n')
}

const MOST_QUESTIONS = 20
const MAX_PROMPT_LINE = 2000

function lineOf({ at, who, what, text }: HistoryEntry): string {
  const parts = [at, who, what, text].filter((part) => part !== null)
  return `- ${parts.map((part) => oneLine(bounded(part, MAX_PROMPT_LINE))).join(BETWEEN)}`
}
