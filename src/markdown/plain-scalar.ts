import type { YamlValue } from './yaml-scalar.ts'

/**
 * Reads values on one line of plain frontmatter without the YAML parser. Each function stops at the first construct
 * whose meaning in YAML 1.2 core is not certain; then the parser decides.
 */
export interface PlainLine {
  text: string
  at: number
  /** Before the line's ending. */
  end: number
}

/** A scalar's value and its source (`yaml-value.ts` says which scalars are not texts). */
export interface PlainScalar {
  value: string | number | boolean | null
  text: string | null
}

/** How an ASCII character may occur in an unquoted scalar. */
const [REFUSED, INNER, FIRST, FLOW_END, COLON, HASH] = [0, 1, 2, 3, 4, 5]
const KIND = new Uint8Array(128)
for (let code = 0x20; code < 0x7f; code++) KIND[code] = kindOf(String.fromCharCode(code))

function kindOf(character: string): number {
  if (/[A-Za-z0-9_(/.+$]/.test(character)) return FIRST
  if (/[,[\]{}]/.test(character)) return FLOW_END
  if (character === ':') return COLON
  return character === '#' ? HASH : INNER
}

const [SPACE, QUOTE, APOSTROPHE, MINUS, BACKSLASH, TILDE] = [0x20, 0x22, 0x27, 0x2d, 0x5c, 0x7e]

/** Whether the range contains only text for every reader: no control characters, separators or BOM. */
export function isText(text: string, from: number, to: number): boolean {
  for (let index = from; index < to; index++) if (!isTextCode(text.charCodeAt(index))) return false
  return true
}

function isTextCode(code: number): boolean {
  if (code < 0x80) return KIND[code] !== REFUSED
  return code > 0xa0 && (code < 0x2000 || code > 0x206f) && code !== 0xfeff && code < 0xfffe
}

/** Reads the rest of the line as a scalar; undefined if not certain. */
export function scalarToEnd(line: PlainLine): PlainScalar | undefined {
  const { text, at } = line
  let end = line.end
  while (end > at && text.charCodeAt(end - 1) === SPACE) end--
  const first = text.charCodeAt(at)
  if (first === QUOTE || first === APOSTROPHE) {
    const scalar = quotedScalar(line, first)
    return scalar && line.at === end ? scalar : undefined
  }
  if (!mayBegin(text, at, end)) return undefined
  let before = 0
  for (let index = at; index < end; index++) {
    const code = text.charCodeAt(index)
    if (!isTextCode(code)) return undefined
    const isColon = code === 0x3a
    if (isColon && (index + 1 === end || text.charCodeAt(index + 1) === SPACE)) return undefined
    if (code === 0x23 && before === SPACE) return undefined
    before = code
  }
  line.at = end
  return typed(text.slice(at, end))
}

/** Reads a scalar inside brackets; undefined if not certain. */
export function scalarInFlow(line: PlainLine): PlainScalar | undefined {
  const { text, at } = line
  const first = text.charCodeAt(at)
  if (first === QUOTE || first === APOSTROPHE) return quotedScalar(line, first)
  let end = at
  let index = at
  for (; index < line.end; index++) {
    const code = text.charCodeAt(index)
    const kind = code < 0x80 ? KIND[code] : INNER
    if (kind === FLOW_END) break
    if (kind === COLON || kind === HASH || !isTextCode(code)) return undefined
    if (code !== SPACE) end = index + 1
  }
  if (!mayBegin(text, at, end)) return undefined
  line.at = index
  return typed(text.slice(at, end))
}

function mayBegin(text: string, at: number, end: number): boolean {
  if (at >= end) return false
  const first = text.charCodeAt(at)
  if (first > 0x7f || KIND[first] === FIRST) return true
  if (first === TILDE) return end === at + 1
  return first === MINUS && isDigit(text.charCodeAt(at + 1))
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39
}

/** Reads a quoted text without escapes. */
function quotedScalar(line: PlainLine, quote: number): PlainScalar | undefined {
  const { text, at } = line
  const end = text.indexOf(quote === QUOTE ? '"' : "'", at + 1)
  if (end < 0 || end >= line.end) return undefined
  if (quote === APOSTROPHE && text.charCodeAt(end + 1) === APOSTROPHE) return undefined
  for (let index = at + 1; index < end; index++) {
    const code = text.charCodeAt(index)
    if (!isTextCode(code) || (code === BACKSLASH && quote === QUOTE)) return undefined
  }
  const value = text.slice(at + 1, end)
  line.at = end + 1
  return { value, text: value }
}

const TYPED = new Map<string, YamlValue>([
  ...['~', 'null', 'Null', 'NULL'].map((word) => [word, null] as const),
  ...['true', 'True', 'TRUE'].map((word) => [word, true] as const),
  ...['false', 'False', 'FALSE'].map((word) => [word, false] as const),
])
/** Maximum length of a number as JavaScript writes it. */
const MAX_NUMBER = 25

function typed(source: string): PlainScalar {
  const { length } = source
  const first = source.charCodeAt(0)
  if (length <= MAX_NUMBER && (isDigit(first) || first === MINUS)) {
    const number = Number(source)
    if (Number.isFinite(number) && String(number) === source) return { value: number, text: source }
  }
  if (length <= 5) {
    const word = TYPED.get(source)
    if (word !== undefined)
      return { value: word as boolean | null, text: word === null ? null : source }
  }
  return { value: source, text: source }
}
