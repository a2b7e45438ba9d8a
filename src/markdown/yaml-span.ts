import type { Node } from 'yaml'
import { isCollection, isMap, isNode } from './yaml-package.ts'

/**
 * Returns the offset after the last character of a value. The package's range of a block collection or scalar
 * includes its last line ending and comments below it.
 */
export function valueEnd(source: string, node: Node): number {
  if (isCollection(node) && isBlock(node)) {
    const last = lastNode(node)
    if (last) return valueEnd(source, last)
  }
  let [start, end] = node.range!
  while (end > start && /[\r\n]/.test(source[end - 1]!)) end--
  return end
}

/** Whether it is written as lines below its key, not in brackets. */
export function isBlock(node: Node): boolean {
  return isCollection(node) && node.flow !== true
}

function lastNode(node: Node): Node | null {
  if (!isCollection(node)) return null
  const last = node.items.at(-1)
  if (!isMap(node)) return isNode(last) ? last : null
  const pair = node.items.at(-1)
  if (isNode(pair?.value)) return pair.value
  return isNode(pair?.key) ? pair.key : null
}
