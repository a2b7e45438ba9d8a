import type { Node, YAMLSeq } from 'yaml'
import type { LineEnding } from './lines.ts'
import { isNode } from './yaml-package.ts'
import { type YamlValue, yamlText } from './yaml-scalar.ts'
import { valueEnd } from './yaml-span.ts'
import { plainNode } from './yaml-value.ts'

/**
 * Changes a list of `- item` lines to `value`, which is not empty: unchanged lines at its start and end are kept with
 * their comments; those between are replaced.
 */
export function editedList(
  source: string,
  list: YAMLSeq,
  value: YamlValue[],
  eol: LineEnding,
): string {
  const items = list.items.filter(isNode)
  const present = items.map((item) => JSON.stringify(plainNode(item)))
  const newItems = value.map((item) => JSON.stringify(item))
  const most = Math.min(present.length, newItems.length)
  let head = 0
  while (head < most && present[head] === newItems[head]) head++
  let tail = 0
  while (tail < most - head && present.at(-1 - tail) === newItems.at(-1 - tail)) tail++
  const gone = items.slice(head, items.length - tail)
  const start = gone[0]
    ? lineStart(source, gone[0])
    : head > 0
      ? lineEnd(source, items[head - 1]!)
      : lineStart(source, items[0]!)
  const end = gone.length ? lineEnd(source, gone.at(-1)!) : start
  const indent = /^ */.exec(source.slice(lineStart(source, items[0]!)))![0]
  const lines = value
    .slice(head, value.length - tail)
    .map((item) => `${indent}- ${yamlText(item)}${eol}`)
  const gap = start === 0 || source[start - 1] === '\n' ? '' : eol
  return source.slice(0, start) + gap + lines.join('') + source.slice(end)
}

function lineStart(source: string, item: Node): number {
  return source.lastIndexOf('\n', item.range![0] - 1) + 1
}

/** Returns the offset after the line's ending, so that a comment after an item is included. */
function lineEnd(source: string, item: Node): number {
  const at = source.indexOf('\n', valueEnd(source, item))
  return at < 0 ? source.length : at + 1
}
