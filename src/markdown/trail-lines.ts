import type { TrailLine } from '../model/trail.ts'
import { linesOf } from './lines.ts'

export const TRAIL_HEADING = 'Audit trail'

const LINE =
  /^(\d{1,9})\. (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z) ([a-z_]+)((?: [a-z_][a-z0-9_]*=.*)?)$/

/** `<number>. <time> <event> key=value…`, always one line, read back exactly by `readTrailLine`. */
export function trailLineText(line: TrailLine): string {
  const fields = Object.entries(line.fields).map(([key, value]) => ` ${key}=${valueText(value)}`)
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
    if (!key) return null
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

/** Where a JSON string, array or object that starts here ends. */
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
  }
  return text.length
}

function parsed(text: string): unknown {
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
 * Splits off the audit trail: the last `## Audit trail` whose next text is a trail line. It is found
 * without a parser, so that whatever a person does to the sections above, the journal stays readable.
 */
export function readTrail(text: string): TrailPart | null {
  const heading = /(?:^|[\r\n])## Audit trail[ \t]*(?:\r\n|\n|\r)/g
  let part: TrailPart | null = null
  for (let match = heading.exec(text); match; match = heading.exec(text)) {
    const start = match.index + (match[0].startsWith('#') ? 0 : 1)
    const after = match.index + match[0].length
    if (/^\s*\d+\. \d{4}-/.test(text.slice(after, after + 200))) {
      const found = linesFrom(text, start, after)
      if (found.lines.length > 0) part = found
    }
    heading.lastIndex = after - 1
  }
  return part
}

function linesFrom(text: string, start: number, after: number): TrailPart {
  const lines: TrailPart['lines'] = []
  for (const { text: source, start: lineStart, next } of linesOf(text, after)) {
    const line = readTrailLine(source)
    if (line) lines.push({ line, start: lineStart, next })
  }
  return { start, lines }
}
