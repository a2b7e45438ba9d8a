import type { FileLine } from '../model/trail.ts'
import { linesOf } from './lines.ts'

export const TRAIL_HEADING = 'Audit trail'

/** `<number>. <time> <event> key=value…`, always on one line. `readTrailLine` reads it back exactly. */
export function trailLineText(line: FileLine): string {
  const fields = Object.entries(line.fields)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => ` ${key}=${valueText(value)}`)
  return `${line.number}. ${line.time} ${line.event}${fields.join('')}`
}

const BARE = /^[A-Za-z0-9._:/+@,-]+$/
const LINE = /^(\d{1,9})\. (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z) ([a-z_]+)(?=( |$))/
const FIELD = / ([a-z_][a-z0-9_]*)=((?=["[{])|[^ ]*)/y

function valueText(value: unknown): string {
  if (typeof value === 'string' && BARE.test(value) && readValue(value) === value) return value
  return JSON.stringify(value).replace(
    /[\u007f-\u009f\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** Reads one line, without its line ending. Null if it is not a trail line. */
export function readTrailLine(text: string): FileLine | null {
  const match = LINE.exec(text)
  if (!match || /[\r\n\u2028\u2029]/.test(text)) return null
  const [start, number, time, event] = match
  const fields: Record<string, unknown> = {}
  for (let at = start.length; at < text.length; ) {
    FIELD.lastIndex = at
    const field = FIELD.exec(text)
    if (!field || field[1] === '__proto__') return null
    const from = FIELD.lastIndex - field[2]!.length
    if (field[2] === '' && !/["[{]/.test(text[from] ?? '')) return null
    at = field[2] === '' ? findJsonEnd(text, from) : FIELD.lastIndex
    const value = readValue(text.slice(from, at))
    if (value === undefined) return null
    fields[field[1]!] = value
  }
  // any other event and fields are kept as they are
  return { number: Number(number), time: time!, event: event!, fields }
}

/** JSON.stringify recurses, so a deeper value could be parsed but not written again. */
const MAX_DEPTH = 100

/** The end of the JSON string, list or mapping that starts here; `from` if it is too deep. */
function findJsonEnd(text: string, from: number): number {
  // an unclosed string is one token, so that the quotes in it are not tried again
  const tokens = /"(?:[^"\\]|\\.)*(?:"|\\?$)|[[{]|[\]}]/g
  tokens.lastIndex = from
  let depth = 0
  for (let token = tokens.exec(text); token; token = tokens.exec(text)) {
    if ('[{'.includes(token[0])) depth++
    else if (']}'.includes(token[0])) depth--
    if (depth === 0) return tokens.lastIndex
    if (depth > MAX_DEPTH) return from
  }
  return text.length
}

const JSON_VALUE = /^\s*(?:["[{]|-?\d[\d.eE+-]*\s*$|(?:true|false|null)\s*$)/

/** A JSON value, or a word without quotes; undefined for anything else. */
function readValue(source: string): unknown {
  // fast path: most words are not JSON, and throwing for each costs more than reading the rest of
  // the file
  if (JSON_VALUE.test(source)) {
    try {
      return JSON.parse(source)
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error
    }
  }
  return BARE.test(source) ? source : undefined
}

/** Offset of the trail's heading, and its lines with offsets; null without a trail. */
export interface TrailPart {
  start: number
  lines: { line: FileLine; start: number; next: number }[]
}

/**
 * Splits off the audit trail: the last `## Audit trail` with an audit line below it, and all audit lines from there
 * to the end. It needs no parser, so edits above cannot make the journal unreadable. As it comes last, section text
 * cannot be mistaken for it.
 */
export function readTrail(text: string): TrailPart | null {
  let to = text.length
  for (let start = headingBefore(text, to); start >= 0; start = headingBefore(text, start)) {
    const lines = linesBetween(text, start, to)
    if (lines.length > 0) return { start, lines }
    to = start
  }
  return lastLines(text)
}

/** So that a page that renders the file shows the trail folded. Files of earlier versions are without. */
export const TRAIL_OPENING = '<details>'
export const TRAIL_CLOSING = '</details>'

/** What follows the last line of this trail; empty if it is not folded. */
export function closingOf(text: string, { start, lines }: TrailPart): string {
  const isFolded = [...linesOf(text, start, lines[0]?.start)].some((line) => isFoldStart(line.text))
  return isFolded ? TRAIL_CLOSING : ''
}

/** A person may have added `open`. */
export function isFoldStart(line: string): boolean {
  return /^\s*<details\b/.test(line)
}

const CLOSING_AT_END = new RegExp(`${TRAIL_CLOSING}\\s*$`)

/** Returns the audit lines at the end of a file whose heading was removed or changed. */
function lastLines(text: string): TrailPart | null {
  const end = text.replace(CLOSING_AT_END, '').trimEnd()
  const last = Math.max(end.lastIndexOf('\n'), end.lastIndexOf('\r')) + 1
  if (!readTrailLine(end.slice(last))) return null
  let lines: TrailPart['lines'] = []
  let fold: number | undefined
  for (const { text: source, start, next } of linesOf(text)) {
    const line = readTrailLine(source)
    if (line) lines.push({ line, start, next })
    else if (source.trim() !== '' && source.trim() !== TRAIL_CLOSING) {
      lines = []
      fold = isFoldStart(source) ? start : undefined
    }
  }
  return { start: fold ?? lines[0]!.start, lines }
}

const HEADING = `## ${TRAIL_HEADING}`

/** Returns the offset of the last trail heading before `before`; -1 without one. */
export function headingBefore(text: string, before: number): number {
  let start = before === 0 ? -1 : text.lastIndexOf(HEADING, before - 1)
  while (start >= 0) {
    const isHeading = /^[ \t]*(?:[\r\n]|$)/.test(text.slice(start + HEADING.length, start + 200))
    if (isHeading && (start === 0 || /[\r\n]/.test(text[start - 1]!))) return start
    start = start === 0 ? -1 : text.lastIndexOf(HEADING, start - 1)
  }
  return -1
}

function linesBetween(text: string, from: number, to: number): TrailPart['lines'] {
  const lines: TrailPart['lines'] = []
  for (const { text: source, start, next } of linesOf(text, from, to)) {
    const line = readTrailLine(source)
    if (line) lines.push({ line, start, next })
  }
  return lines
}
