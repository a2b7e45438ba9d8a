import type { Pair } from 'yaml'
import { isNode, isScalar, isSeq } from './yaml-package.ts'
import { valueEnd } from './yaml-span.ts'

/** What YAML takes for a comment behind a value without quotes, which a person may have written as a part of it. */
export interface Cut {
  /** Offset of the value, in the source. */
  at: number
  /** From the `#` to the end of the line. */
  text: string
}

/** What is cut from the value of a pair, or from each word of its list. */
export function cutsOf(source: string, { key, value }: Pair): Cut[] {
  if (isSeq(value)) return value.items.flatMap((item) => cutBehind(source, item))
  const isEmpty = !isNode(value) || (value.range![0] === value.range![1] && isScalar(value))
  if (!isEmpty) return cutBehind(source, value)
  if (!isNode(key)) return []
  const [at, end] = key.range!
  // with a space, it is a comment on a value that is still to come
  const text = /^\s*:[ \t]+(#[^\s#][^\r\n]*)/.exec(source.slice(end))?.[1]
  return text === undefined ? [] : [{ at, text: text.trimEnd() }]
}

function cutBehind(source: string, node: unknown): Cut[] {
  if (!isScalar(node) || !node.range || (node.type ?? 'PLAIN') !== 'PLAIN') return []
  const text = commentBehind(source, valueEnd(source, node))
  return text === null ? [] : [{ at: node.range[0], text }]
}

/** The comment on the rest of a line, without blanks around it. */
export function commentBehind(source: string, end: number): string | null {
  const isStart = end === 0 || /[\s-]/.test(source[end - 1]!)
  const found = (isStart ? /^[ \t]*(#[^\r\n]*)/ : /^[ \t]+(#[^\r\n]*)/).exec(source.slice(end))?.[1]
  return found?.trimEnd() ?? null
}
