import { type Act, type Actor, compareMinutes, type HistoryEntry } from '../model/history.ts'
import { actText, kindOf, parseAct, partOf, sessionOf } from '../model/history-act.ts'
import { bounded, isWithin, LINE_BREAK, oneLine } from '../model/one-line.ts'
import { linesOf } from './lines.ts'

/** So that a person can read the file. Longer lines of older versions are read as they are. */
const MAX_LINE = 300
export const MAX_WHO = 100
/** Below the line of an act, each of these holds a line of its text, or goes on with the one above. */
const TEXT_LINE = '  '
const MORE_OF_LINE = '    '

const HEADING = '# History'
const BETWEEN = ' · '
/** Its time is that of older versions, or that of the writer's zone with its offset where that is not UTC. */
const LINE =
  /^- (\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d(?:\.\d{3})?)?)(?:Z| ([+-]\d\d:\d\d))? · (.+)$/

/**
 * Returns the line of an act with its exact time; `shortTimes` makes it the one that is written, which is read back as
 * this act. A text that is too long is cut; all of it follows in indented lines, unless the session's file
 * has it.
 */
export function historyLine(
  { act, ...given }: Act,
  { who }: Pick<Actor, 'who'>,
  at: string,
): string {
  const name = partOf(given.who ?? who, MAX_WHO) || 'unknown'
  const text = oneLine(given.text ?? '')
  const between = `${BETWEEN}${name}${BETWEEN}`
  const others = actText(act, text && '…').length + between.length + MAX_TIME
  const cut = bounded(text, Math.max(MAX_LINE - others, 1))
  const line = `- ${at}${between}${actText(act, cut)}`
  const isOfSession = 'session' in act && !('proof' in act)
  if (text === cut || isOfSession) return line
  return [line, ...text.split(LINE_BREAK).map(indented)].join('\n')
}

/** `- 2026-11-20 09:55:12.310 +01:00` */
const MAX_TIME = 32

/**
 * Writes the time of each line to the minute, as it is here. A line that would be the same as another then, so that a
 * merge or a repeated write could not distinguish them, also has its seconds, or more. `isTaken` gets the first line.
 */
export function shortTimes(
  lines: readonly string[],
  isTaken: (line: string) => boolean = () => false,
): string[] {
  const taken = new Set<string>()
  return lines.map((line) => {
    const at = line.slice(2, line.indexOf(BETWEEN))
    const rest = line.slice(2 + at.length)
    const written = [16, 19, 23]
      .map((length) => `- ${localTime(at, length)}${rest}`)
      .find((each) => !taken.has(firstLine(each)) && !isTaken(firstLine(each)))
    taken.add(firstLine(written ?? line))
    return written ?? line
  })
}

/** `length` is that of the date and the time. */
function localTime(at: string, length: number): string {
  const offset = -new Date(at).getTimezoneOffset()
  const local = new Date(Date.parse(at) + offset * 60_000).toISOString()
  const words = local.slice(0, length).replace('T', ' ')
  if (offset === 0) return words
  const minutes = Math.abs(offset)
  const parts = [Math.floor(minutes / 60), minutes % 60].map((part) =>
    String(part).padStart(2, '0'),
  )
  return `${words} ${offset < 0 ? '-' : '+'}${parts.join(':')}`
}

function firstLine(line: string): string {
  return line.split('\n', 1)[0]!
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

/** Appends lines to the text of the file; lines that it already has are not repeated. */
export function withHistory(present: string | null, lines: readonly string[]): string {
  if (present === null) return `${HEADING}\n\n${lines.map((line) => `${line}\n`).join('')}`
  const eol = /\r\n/.test(present) ? '\r\n' : '\n'
  const added = lines
    .filter((line) => !hasLine(present, firstLine(line)))
    .map((line) => line.replaceAll('\n', eol))
  if (added.length === 0) return present
  const isBlank = present.replace('\ufeff', '').trim() === ''
  const start = isBlank ? `${HEADING}${eol}${eol}` : /[\r\n]$/.test(present) ? '' : eol
  return `${present}${start}${added.map((line) => `${line}${eol}`).join('')}`
}

export function hasLine(text: string, line: string): boolean {
  const isEnd = (at: number) => text[at] === undefined || text[at] === '\n' || text[at] === '\r'
  for (let at = text.indexOf(line); at >= 0; at = text.indexOf(line, at + 1)) {
    if (isEnd(at - 1) && isEnd(at + line.length)) return true
  }
  return false
}

/**
 * Reads the entries of a history.md, oldest first: a merge may have put the lines of two branches in sequence, or
 * duplicated lines. Other lines are notes and stay where they are.
 */
export function readHistory(...read: Parameters<typeof historyInSteps>): HistoryEntry[] {
  return finish(historyInSteps(...read))
}

function finish<T>(steps: Generator<void, T>): T {
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
  }
}

/** So many lines take a millisecond or two. */
const LINES_A_STEP = 2000

/** `readHistory` in steps of a millisecond or two, between which a caller can let others work. */
export function* historyInSteps(
  text: string,
  isOwn: (line: string) => boolean = () => false,
  isGits: (line: string) => boolean = () => false,
): Generator<void, HistoryEntry[]> {
  let count = 0
  const seen = new Set<string>()
  const groups: { at: string; entries: HistoryEntry[] }[] = [{ at: '', entries: [] }]
  let open: HistoryEntry | null = null
  for (const { lines, entry } of partsOf(text)) {
    if (++count % LINES_A_STEP === 0) yield
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
  groups.sort((a, b) => compareMinutes(a.at, b.at)) // those of one minute keep their order
  const entries = groups.flatMap((group) => group.entries)
  const first = entries.findIndex(({ recorded }) => recorded)
  for (const entry of first < 0 ? entries : entries.slice(0, first))
    if (entry.source === 'file') entry.source = 'unknown'
  return entries
}

/** Splits the file into acts, each with the lines of its text, and other lines. */
function* partsOf(text: string): Generator<{ lines: string[]; entry: HistoryEntry | null }> {
  const lines = linesOf(text.replace(/^\ufeff/, ''))
  /** Lines that were read, but belong to no text. */
  let ahead: string[] = []
  let at = 0
  const take = (): string | undefined => ahead[at++] ?? lines.next().value?.text
  for (let line = take(); line !== undefined; line = take()) {
    const entry = entryOf(line)
    const below: string[] = []
    if (entry?.text?.endsWith('…')) {
      let next = take()
      for (; next?.startsWith(TEXT_LINE); next = take()) below.push(next)
      const isText = readWholeText(entry, below)
      ahead = next === undefined ? [] : [next]
      if (!isText) ahead.unshift(...below.splice(0))
      at = 0
    }
    yield { lines: [line, ...below], entry }
  }
}

/** Takes the whole text of a cut one from the lines below it; false if a person has indented their own lines. */
function readWholeText(entry: HistoryEntry, lines: readonly string[]): boolean {
  let text = ''
  for (const [index, line] of lines.entries()) {
    if (index > 0 && line.startsWith(MORE_OF_LINE)) text += line.slice(MORE_OF_LINE.length)
    else text += `${index > 0 ? '\n' : ''}${line.slice(TEXT_LINE.length)}`
  }
  if (!oneLine(text).startsWith(oneLine(entry.text!.slice(0, -1)))) return false
  entry.text = text
  return lines.length > 0
}

/** Returns the time of a line and what follows it; null for a line without one. ISO 8601. */
export function timedLine(line: string): { at: string; rest: string } | null {
  const [, date, time, offset = 'Z', rest] = LINE.exec(line) ?? []
  const ms = Date.parse(`${date}T${time}${offset}`)
  return rest === undefined || Number.isNaN(ms) ? null : { at: new Date(ms).toISOString(), rest }
}

/** Parses an act of the service; null for any other line. */
function entryOf(line: string): HistoryEntry | null {
  const timed = timedLine(line)
  const end = timed?.rest.indexOf(BETWEEN) ?? -1
  if (!timed || end < 0) return null
  const parsed = parseAct(timed.rest.slice(end + BETWEEN.length))
  if (parsed === null) return null
  const { act, text } = parsed
  return {
    at: timed.at,
    who: timed.rest.slice(0, end),
    what: actText(act),
    text: text?.replaceAll(LINE_BREAK, '\n') ?? null,
    kind: kindOf(act),
    act,
    session: sessionOf(act),
    recorded: false,
    source: 'file',
  }
}

/** Parses a person's line, which may have the time and name of an act. */
function noteOf(line: string): HistoryEntry {
  const { at = null, rest = '' } = timedLine(line) ?? {}
  const [who = null, ...words] = at === null ? [] : rest.split(BETWEEN)
  const isSigned = words.length > 0
  const what = isSigned ? words.join(BETWEEN) : line.replace(/^[-*] /, '')
  return {
    at,
    who: isSigned ? who : null,
    what,
    text: null,
    kind: 'note',
    act: null,
    session: null,
    recorded: false,
    source: 'file',
  }
}

/** Returns the acts of a history.md, each with the lines of its text. */
export function actLines(text: string): string[] {
  return finish(actLinesInSteps(text))
}

/** `actLines` as `historyInSteps` works. */
export function* actLinesInSteps(text: string): Generator<void, string[]> {
  const found: string[] = []
  let count = 0
  for (const { lines, entry } of partsOf(text)) {
    if (++count % LINES_A_STEP === 0) yield
    if (entry) found.push(lines.join('\n'))
  }
  return found
}

/** Returns the text for a prompt: the newest entries that fit, and each question with its answer. */
export function newestHistory(entries: readonly HistoryEntry[], maxBytes: number): string {
  const isKept = ({ kind }: HistoryEntry) => kind === 'question' || kind === 'answer'
  let room = maxBytes
  const taken = new Map<number, string>()
  const take = (index: number) => {
    if (taken.has(index)) return true
    const line = bounded(lineOf(entries[index]!), MAX_PROMPT_LINE)
    const bytes = Buffer.byteLength(line) + 1
    if (bytes > room) return false
    taken.set(index, line)
    room -= bytes
    return true
  }
  const backwards = [...entries.keys()].reverse()
  const questions = backwards.filter((index) => isKept(entries[index]!))
  for (const index of questions.slice(0, MOST_QUESTIONS)) take(index)
  for (const index of backwards) if (!take(index)) break
  const kept = [...taken].sort(([a], [b]) => a - b).map(([, line]) => line)
  const left = entries.length - kept.length
  return [...(left > 0 ? [`(${left} older entries are left out)`] : []), ...kept].join('\n')
}

const MOST_QUESTIONS = 20
const MAX_PROMPT_LINE = 2000

function lineOf({ at, who, what, text, act }: HistoryEntry): string {
  const said = act ? actText(act, text ?? undefined) : what
  const parts = [at, who, said].filter((part) => part !== null)
  return `- ${parts.map((part) => oneLine(bounded(part, MAX_PROMPT_LINE))).join(BETWEEN)}`
}
