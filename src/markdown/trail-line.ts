import type { TrailLine } from '../model/trail.ts'

/**
 * Formats an audit line: `<number>. <time> <event> key=value…`, always one line, read back exactly by
 * `readTrailLine`.
 */
export function trailLineText(line: TrailLine): string {
  const fields = Object.entries(line.fields)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => ` ${key}=${valueText(value)}`)
  return `${line.number}. ${line.time} ${line.event}${fields.join('')}`
}

const BARE = /^[A-Za-z0-9._:/+@,-]+$/

function valueText(value: unknown): string {
  if (typeof value === 'string' && BARE.test(value) && bareValue(value) === value) return value
  return JSON.stringify(value).replace(
    /[\u007f-\u009f\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

const [SPACE, DOT, EQUALS, QUOTE, BACKSLASH, UNDERSCORE] = [0x20, 0x2e, 0x3d, 0x22, 0x5c, 0x5f]
const TIME = 'dddd-dd-ddTdd:dd:dd.dddZ'
/** The length of `1. `, a time, a space and an event of one letter. */
const MIN_LENGTH = 3 + TIME.length + 2
const MAX_DIGITS = 9

/**
 * Parses the line between `from` and `to`; null if it is not an audit line. Reads character by character, as every
 * line of every session is read at start.
 */
export function readTrailLine(text: string, from = 0, to = text.length): TrailLine | null {
  if (to - from < MIN_LENGTH) return null
  let at = from
  while (at < to && isDigit(text.charCodeAt(at))) at++
  if (at === from || at - from > MAX_DIGITS) return null
  const number = Number(text.slice(from, at))
  if (text.charCodeAt(at) !== DOT || text.charCodeAt(at + 1) !== SPACE) return null
  const time = at + 2
  at = time + TIME.length
  const event = at + 1
  if (event >= to || !isTime(text, time) || text.charCodeAt(at) !== SPACE) return null
  at = event
  while (at < to && isLetter(text.charCodeAt(at))) at++
  if (at === event) return null
  const fields = readFields(text, at, to)
  return (
    fields && {
      number,
      time: text.slice(time, event - 1),
      event: text.slice(event, at),
      fields,
    }
  )
}

function isTime(text: string, from: number): boolean {
  for (let index = 0; index < TIME.length; index++) {
    const code = text.charCodeAt(from + index)
    const wanted = TIME.charCodeAt(index)
    if (wanted === 0x64 ? !isDigit(code) : code !== wanted) return false
  }
  return true
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39
}

/** Whether it is a letter of an event or key: lower case or `_`. */
function isLetter(code: number): boolean {
  return (code >= 0x61 && code <= 0x7a) || code === UNDERSCORE
}

function readFields(text: string, from: number, to: number): Record<string, unknown> | null {
  const fields: Record<string, unknown> = {}
  let at = from
  while (at < to) {
    if (text.charCodeAt(at) !== SPACE) return null
    const key = at + 1
    at = key
    while (at < to && (isLetter(text.charCodeAt(at)) || (at > key && isDigit(text.charCodeAt(at)))))
      at++
    if (at === key || at >= to || text.charCodeAt(at) !== EQUALS) return null
    const name = text.slice(key, at)
    if (name === '__proto__') return null
    at++
    const end = valueEnd(text, at, to)
    const value = readValue(text, at, end)
    if (value === undefined) return null
    fields[name] = value
    at = end
  }
  return fields
}

/** Returns the end of a value: JSON with its brackets, else at a space. */
function valueEnd(text: string, from: number, to: number): number {
  const first = text.charCodeAt(from)
  if (first === QUOTE || first === 0x5b || first === 0x7b) return jsonEnd(text, from, to)
  const space = text.indexOf(' ', from)
  return space < 0 || space > to ? to : space
}

/** Deeper values could be parsed but not written: JSON.stringify recurses. */
const MAX_DEPTH = 100

/** Returns the end of a JSON string, array or object; `from` if it is too deep. */
function jsonEnd(text: string, from: number, to: number): number {
  let depth = 0
  let inString = false
  for (let index = from; index < to; index++) {
    const code = text.charCodeAt(index)
    if (inString) {
      if (code === BACKSLASH) index++
      else if (code === QUOTE) inString = false
    } else if (code === QUOTE) inString = true
    else if (code === 0x5b || code === 0x7b) depth++
    else if (code === 0x5d || code === 0x7d) depth--
    if (depth === 0 && !inString) return index + 1
    if (depth > MAX_DEPTH) return from
  }
  return to
}

/** Parses a value; undefined if invalid. */
function readValue(text: string, from: number, to: number): unknown {
  const source = text.slice(from, to)
  if (BARE.test(source)) return bareValue(source)
  if (/[\r\n\u2028\u2029]/.test(source)) return undefined // a line ending, to some readers
  return isSimpleString(text, from, to) ? source.slice(1, -1) : parsed(source)
}

/** Whether it is a quoted string of printable ASCII without escapes, which needs no JSON.parse. */
function isSimpleString(text: string, from: number, to: number): boolean {
  if (to - from < 2 || text.charCodeAt(from) !== QUOTE) return false
  if (text.charCodeAt(to - 1) !== QUOTE) return false
  for (let index = from + 1; index < to - 1; index++) {
    const code = text.charCodeAt(index)
    if (code < SPACE || code > 0x7e || code === QUOTE || code === BACKSLASH) return false
  }
  return true
}

const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/

/** Parses a word without quotes: a JSON number, true, false or null, else the word itself. */
function bareValue(source: string): unknown {
  const first = source.charCodeAt(0)
  if (isDigit(first) || first === 0x2d) return JSON_NUMBER.test(source) ? Number(source) : source
  if (source === 'true') return true
  if (source === 'false') return false
  return source === 'null' ? null : source
}

/** Only such texts are passed to JSON.parse, as errors are expensive. */
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
