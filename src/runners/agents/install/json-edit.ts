/**
 * Adds values to a JSON text, and takes them out, without changing another byte: `modify` of jsonc-parser formats the
 * lines that it touches, and removes the comments between two values.
 */

import type { Node } from 'jsonc-parser'
import { jsoncPackage } from './jsonc-package.ts'

/** How the file is written. */
export interface JsonStyle {
  eol: string
  /** One level of indentation. */
  unit: string
  /** Whether the whole text is on one line. */
  isCompact: boolean
}

export function styleOf(text: string): JsonStyle {
  const indented = /\n([ \t]+)\S/.exec(text)
  return {
    eol: /\r\n|\n/.exec(text)?.[0] ?? '\n',
    unit: indented?.[1] ?? '  ',
    isCompact: !/\n/.test(text.trim()) && !/^(?:\{\s*\})?$/.test(text.trim()),
  }
}

/** Adds a property or an element as the last one of `parent`; `name` is null in an array. */
export function addLast(text: string, parent: Node, name: string | null, value: unknown): string {
  const style = styleOf(text)
  const close = parent.offset + parent.length - 1
  const last = parent.children?.at(-1)
  const key = name === null ? '' : `${JSON.stringify(name)}:${style.isCompact ? '' : ' '}`
  const trivia = text.slice(last ? last.offset + last.length : parent.offset + 1, close)
  const isInline = style.isCompact || (last !== undefined && !trivia.includes('\n'))
  if (isInline) {
    const content = key + JSON.stringify(value)
    const comma = last ? commaAfter(text, last, close) : null
    if (comma !== null) return insert(text, comma + 1, `${content},`)
    if (last) return insert(text, last.offset + last.length, `,${content}`)
    return insert(text, parent.offset + 1, content)
  }
  const outer = indentAt(text, parent.offset)
  const inner = last ? indentAt(text, last.offset) : outer + style.unit
  const line = style.eol + inner + key + rendered(value, inner, style)
  // after comments on the line of the last value, which belong to it
  const end = close - (trivia.length - trivia.trimEnd().length)
  if (last === undefined) {
    const rest = trivia.includes('\n') ? '' : style.eol + outer
    return insert(text, end, line + rest)
  }
  if (commaAfter(text, last, close) !== null) return insert(text, end, `${line},`)
  return insert(insert(text, end, line), last.offset + last.length, ',')
}

/** Takes out a property or an element with its comma. A line that is blank then goes too. */
export function takeOut(text: string, parent: Node, child: Node): string {
  const siblings = parent.children!
  const at = siblings.indexOf(child)
  const close = parent.offset + parent.length - 1
  const after = commaAfter(text, child, siblings[at + 1]?.offset ?? close)
  const previous = siblings[at - 1]
  const before = after === null && previous ? commaAfter(text, previous, child.offset) : null
  const end = child.offset + child.length
  const start = child.offset
  let changed = text
  if (after !== null) changed = cut(changed, after, after + 1 + spacesAt(changed, after + 1))
  const isBlankBefore = before !== null && /^[ \t]*$/.test(text.slice(before + 1, start))
  if (isBlankBefore) return cut(changed, before, end)
  changed = withoutBlank(cut(changed, start, end), start)
  return before === null ? changed : cut(changed, before, before + 1)
}

/** Whether there is a comment in a node. */
export function hasComment(text: string, { offset, length }: Node): boolean {
  const { visit } = jsoncPackage()
  let isFound = false
  visit(text.slice(offset, offset + length), {
    onComment: () => {
      isFound = true
    },
  })
  return isFound
}

/** The number of spaces before another value on the same line. */
function spacesAt(text: string, at: number): number {
  return /^[ \t]*(?=[^\s/])/.exec(text.slice(at))?.[0].length ?? 0
}

/** The position of the comma between `node` and `end`, which may have comments around it. */
function commaAfter(text: string, node: Node, end: number): number | null {
  const { createScanner } = jsoncPackage()
  const scanner = createScanner(text, true)
  scanner.setPosition(node.offset + node.length)
  scanner.scan()
  const at = scanner.getTokenOffset()
  return at < end && text[at] === ',' ? at : null
}

/** Removes the rest of a line that became blank at this place, or the spaces that are left on it. */
function withoutBlank(text: string, place: number): string {
  let start = place
  while (start > 0 && /[ \t]/.test(text[start - 1]!)) start--
  let end = place
  while (end < text.length && /[ \t]/.test(text[end]!)) end++
  const isBlank = (start === 0 || text[start - 1] === '\n') && /^(?:\r?\n|$)/.test(text.slice(end))
  if (!isBlank) return text
  const lineEnd = /^\r?\n/.exec(text.slice(end))?.[0].length ?? 0
  return cut(text, start, end + lineEnd)
}

/** The value over several lines, the first of which begins at the place where it is put. */
function rendered(value: unknown, indent: string, { unit, eol }: JsonStyle): string {
  return JSON.stringify(value, null, unit).replaceAll('\n', eol + indent)
}

function indentAt(text: string, offset: number): string {
  const lineStart = text.lastIndexOf('\n', offset - 1) + 1
  return /^[ \t]*/.exec(text.slice(lineStart))![0]
}

function insert(text: string, at: number, content: string): string {
  return text.slice(0, at) + content + text.slice(at)
}

function cut(text: string, start: number, end: number): string {
  return text.slice(0, start) + text.slice(end)
}
