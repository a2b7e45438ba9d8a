import type { TrailLine } from '../model/trail.ts'
import { linesOf } from './lines.ts'

export const TRAIL_HEADING = 'Audit trail'

const LINE =
  /^(\d{1,9})\. (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z) ([a-z_]+)((?: [a-z_][a-z0-9_]*=.*)?)$/

/** `<number>. <time> <event> key=value…`, always one line, read back exactly by `readTrailLine`. */
export function trailLineText(line: TrailLine): string {
  const fields = Object.entries(line.fields)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => ` ${key}=${valueText(value)}`)
  return `${line.number}. ${line.time} ${line.event}${fields.join('')}`
}

/** The line's values, or null when it is no line of a trail. */
export function readTrailLine(text: string): TrailLine | null {
  const match = LINE.exec(text)
  if (!match) return null
  const fields = readFields(match[4]!)
  return fields && { number: Number(match[1]), time: match[2]!, event: match[3]!, fields }
}

const BARE = /^[A-Za-z0-9._:/+@,-]+$/

function valueText(value: unknown): string {
  if (typeof value === 'string' && BARE.test(value) && !isJson(value)) return value
  return JSON.stringify(value).replace(
    /[\u007f-\u009f\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

function isJson(text: string): boolean {
  return /^(?:-?\d|true$|false$|null$)/.test(text) && parsed(text) !== undefined
}

function readFields(text: string): Record<string, unknown> | null {
  const fields: Record<string, unknown> = {}
  let rest = text
  while (rest !== '') {
    const key = /^ ([a-z_][a-z0-9_]*)=/.exec(rest)
    if (!key || key[1] === '__proto__') return null
    rest = rest.slice(key[0].length)
    const length = /^["[{]/.test(rest) ? jsonLength(rest) : rest.search(/ |$/)
    const source = rest.slice(0, length)
    const value = parsed(source)
    if (value === undefined && !BARE.test(source)) return null
    fields[key[1]!] = value === undefined ? source : value
    rest = rest.slice(length)
  }
  return fields
}

/** Deeper values would be parsed, but not written again: JSON.stringify recurses. */
const MAX_DEPTH = 100

/** Where a JSON string, array or object that starts here ends; 0 where it is too deep. */
function jsonLength(text: string): number {
  let depth = 0
  let inString = false
  for (let index = 0; index < text.length; index++) {
    const character = text[index]!
    if (inString) {
      if (character === '\\') index++
      else if (character === '"') inString = false
    } else if (character === '"') inString = true
    else if ('[{'.includes(character)) depth++
    else if (']}'.includes(character)) depth--
    if (depth === 0 && !inString) return index + 1
    if (depth > MAX_DEPTH) return 0
  }
  return text.length
}

/** Most values are plain words, and an error for each of them costs more than all the rest of a file. */
const LIKE_JSON = /^\s*(?:["[{]|-?\d[\d.eE+-]*\s*$|(?:true|false|null)\s*$)/

function parsed(text: string): unknown {
  if (!LIKE_JSON.test(text)) return undefined
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/** Where the trail's heading starts, and its lines with their offsets; null when there is no trail. */
export interface TrailPart {
  start: number
  lines: { line: TrailLine; start: number; next: number }[]
}

/**
 * Splits off the audit trail: the last `## Audit trail` with a trail line below it, and every trail
 * line from there to the end. It is found without a parser, so that whatever a person does to the
 * sections above, the journal stays readable; and since it is last, no text of a section can pass
 * for it.
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

/** The trail lines that end a file whose heading a person has removed or changed. */
function lastLines(text: string): TrailPart | null {
  const end = text.trimEnd()
  const last = Math.max(end.lastIndexOf('\n'), end.lastIndexOf('\r')) + 1
  if (!readTrailLine(end.slice(last))) return null
  let lines: TrailPart['lines'] = []
  for (const { text: source, start, next } of linesOf(text)) {
    const line = readTrailLine(source)
    if (line) lines.push({ line, start, next })
    else if (source.trim() !== '') lines = []
  }
  return { start: lines[0]!.start, lines }
}

const HEADING = `## ${TRAIL_HEADING}`

/** Offset of the last heading of the trail that starts before `before`; -1 when there is none. */
function headingBefore(text: string, before: number): number {
  let start = before === 0 ? -1 : text.lastIndexOf(HEADING, before - 1)
  while (start >= 0) {
    const whole = /^[ \t]*(?:[\r\n]|$)/.test(text.slice(start + HEADING.length, start + 200))
    if (whole && (start === 0 || /[\r\n]/.test(text[start - 1]!))) return start
    start = start === 0 ? -1 : text.lastIndexOf(HEADING, start - 1)
  }
  return -1
}

function linesBetween(text: string, from: number, to: number): TrailPart['lines'] {
  const lines: TrailPart['lines'] = []
  for (const { text: source, start, next } of linesOf(text.slice(from, to))) {
    const line = readTrailLine(source)
    if (line) lines.push({ line, start: from + start, next: from + next })
  }
  return lines
}
