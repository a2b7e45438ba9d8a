import { type PlainLine, scalarInFlow } from './plain-scalar.ts'
import type { YamlValue } from './yaml-scalar.ts'

/** The service itself writes nothing deeper than lists of mappings. */
const MAX_DEPTH = 4

/** Reads `[a, b]` or `{ a: 1, b: c }` on one line; undefined if its meaning is not certain. */
export function flowCollection(line: PlainLine, depth = 0): YamlValue | undefined {
  if (depth > MAX_DEPTH) return undefined
  return line.text[line.at] === '[' ? flowList(line, depth) : flowMap(line, depth)
}

function flowList(line: PlainLine, depth: number): YamlValue[] | undefined {
  const items: YamlValue[] = []
  line.at++
  if (passes(line, ']')) return items
  for (;;) {
    const item = flowValue(line, depth)
    if (item === undefined) return undefined
    items.push(item)
    if (passes(line, ']')) return items
    if (!passes(line, ',')) return undefined
  }
}

function flowMap(line: PlainLine, depth: number): { [key: string]: YamlValue } | undefined {
  const map: { [key: string]: YamlValue } = {}
  line.at++
  if (passes(line, '}')) return map
  for (;;) {
    const key = keyName(line)
    if (key === undefined || Object.hasOwn(map, key)) return undefined
    if (line.text[line.at] !== ' ') return undefined
    const value = flowValue(line, depth)
    if (value === undefined) return undefined
    map[key] = value
    if (passes(line, '}')) return map
    if (!passes(line, ',')) return undefined
  }
}

function flowValue(line: PlainLine, depth: number): YamlValue | undefined {
  skipSpaces(line)
  const first = line.text[line.at]
  if (first === '[' || first === '{') return flowCollection(line, depth + 1)
  return scalarInFlow(line)?.value
}

/** Skips spaces and this character; false if it does not follow. */
function passes(line: PlainLine, character: string): boolean {
  skipSpaces(line)
  if (line.at >= line.end || line.text[line.at] !== character) return false
  line.at++
  return true
}

export function skipSpaces(line: PlainLine): void {
  while (line.at < line.end && line.text.charCodeAt(line.at) === 0x20) line.at++
}

const MAX_KEY = 64
/** Keys that the parser rejects. */
const REFUSED_KEYS = new Set(['__proto__', 'constructor', 'prototype'])

/** Reads a key of letters, digits, `_` and `-` and its colon; undefined for any other. */
export function keyName(line: PlainLine): string | undefined {
  skipSpaces(line)
  const { text, at, end } = line
  let index = at
  while (index < end && isKeyCode(text.charCodeAt(index), index > at)) index++
  if (index === at || index - at > MAX_KEY || text.charCodeAt(index) !== 0x3a) return undefined
  const key = text.slice(at, index)
  if (REFUSED_KEYS.has(key)) return undefined
  line.at = index + 1
  return key
}

function isKeyCode(code: number, inner: boolean): boolean {
  const letter = code | 0x20
  if ((letter >= 0x61 && letter <= 0x7a) || code === 0x5f) return true
  return inner && ((code >= 0x30 && code <= 0x39) || code === 0x2d)
}
