import { flowCollection, keyName, skipSpaces } from './plain-flow.ts'
import { isText, type PlainLine, scalarToEnd } from './plain-scalar.ts'
import type { YamlValue } from './yaml-scalar.ts'

/** A frontmatter value; `text` is the source of a scalar, else null. */
export interface Field {
  value: YamlValue
  text: string | null
  /** Offset of the key in the file. */
  at: number
}

export interface PlainFront {
  fields: Map<string, Field>
  bodyStart: number
}

/** Far below the parser's limits (64 KiB, `MAX_LEXEMES`), so that the parser reports when they are exceeded. */
const MAX_LENGTH = 13_000

const [SPACE, HASH, MINUS] = [0x20, 0x23, 0x2d]

/**
 * Reads frontmatter of plain `key: value` lines, flow collections on one line and block lists of
 * scalars, as nearly every file has it, in a hundredth of the parser's time. It gives exactly what
 * the parser gives (a property test holds the two together), or null at the first thing that it does
 * not know for sure; then the parser decides.
 */
export function plainFront(text: string): PlainFront | null {
  const start = text.charCodeAt(0) === 0xfeff ? 1 : 0
  const line: PlainLine = { text, at: start, end: start }
  let next = toLine(line, start)
  if (!isDashes(line)) return null
  const fields = new Map<string, Field>()
  /** The field above if its value is empty: a list may follow. */
  let open: Field | null = null
  while (next < text.length && next < MAX_LENGTH) {
    const from = next
    next = toLine(line, from)
    if (isDashes(line)) return { fields, bodyStart: next }
    const first = line.end === from ? HASH : text.charCodeAt(from)
    if (first === HASH) {
      if (!isText(text, from, line.end)) return null
      open = null
    } else if (first === SPACE || first === MINUS) {
      const list = open && blockList(line, next)
      if (!list) return null
      open!.value = list.items
      next = list.next
      open = null
    } else {
      const key = keyName(line)
      if (key === undefined || fields.has(key)) return null
      if (line.at < line.end && text.charCodeAt(line.at) !== SPACE) return null
      skipSpaces(line)
      open = line.at === line.end ? { value: null, text: null, at: from } : null
      const field = open ?? fieldBehind(line, from)
      if (!field) return null
      fields.set(key, field)
    }
  }
  return null
}

/** Moves to the line that starts here and returns the offset of the next. A lone CR does not end a line. */
function toLine(line: PlainLine, from: number): number {
  const { text } = line
  const lf = text.indexOf('\n', from)
  const end = lf < 0 ? text.length : lf
  line.at = from
  line.end = lf > from && text.charCodeAt(lf - 1) === 0x0d ? end - 1 : end
  return lf < 0 ? end : end + 1
}

function isDashes({ text, at, end }: PlainLine): boolean {
  return end === at + 3 && text.startsWith('---', at)
}

function fieldBehind(line: PlainLine, at: number): Field | null {
  const first = line.text[line.at]
  if (first !== '[' && first !== '{') {
    const scalar = scalarToEnd(line)
    return scalar ? { value: scalar.value, text: scalar.text, at } : null
  }
  const value = flowCollection(line)
  skipSpaces(line)
  return value !== undefined && line.at === line.end ? { value, text: null, at } : null
}

/** Reads list items: lines with the same indentation and `- `, starting with `line`. */
function blockList(
  line: PlainLine,
  afterFirst: number,
): { items: YamlValue[]; next: number } | null {
  const { text, at } = line
  skipSpaces(line)
  const mark = `${text.slice(at, line.at)}- `
  const items: YamlValue[] = []
  let from = at
  let next = afterFirst
  while (text.startsWith(mark, from)) {
    line.at = from + mark.length
    const item = scalarToEnd(line)
    if (!item) return null
    items.push(item.value)
    from = next
    next = toLine(line, from)
  }
  return items.length === 0 ? null : { items, next: from }
}
