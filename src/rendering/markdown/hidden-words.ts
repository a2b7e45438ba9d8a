import type { Nodes } from 'hast'
import { visibleText } from '../hidden-characters.ts'

const MAX_NAMED = 12
const WORD = /[\p{L}\p{N}\p{M}]+/gu
/** A word, or an entity with the words that it joins: what begins at each word takes linear time. */
const REFERENCE =
  /[\p{L}\p{N}\p{M}]+(?:&(?:#\w{1,8}|[A-Za-z]\w{0,31});[\p{L}\p{N}\p{M}]*)?|&(?:#\w{1,8}|[A-Za-z]\w{0,31});[\p{L}\p{N}\p{M}]*/gu
/** The browser draws the numbers and checkboxes of lists itself. */
const LIST_MARKS = /^(?:[ \t]*(?:>|(?:[-+*]|\d{1,9}[.)])(?=[ \t]|$)))+(?:[ \t]+\[[xX]\](?=\s))?/gm

/**
 * Pure. The first words of a markdown text that its rendering `root` shows less often than the text has them. It uses
 * no rules of markdown, so it also finds text hidden in ways that the renderer does not expect. `stepLines` are fences
 * whose first line the page shows in other words.
 */
export function hiddenWords(
  source: string,
  root: Nodes,
  stepLines: ReadonlySet<number> = new Set(),
): string[] {
  const shown = visibleText(textOf(root))
  const left = new Map<string, number>()
  for (const [word] of shown.matchAll(WORD)) left.set(word, (left.get(word) ?? 0) + 1)

  const lines = source.split(/\r\n|\n|\r/)
  for (const line of stepLines) {
    lines[line - 1] = (lines[line - 1] ?? '').split(/`{3}|~{3}/, 1)[0]!
  }
  const hidden = new Set<string>()
  const written = visibleText(lines.join('\n'))
    .replace(LIST_MARKS, '')
    .replace(/<br\s*\/?>/gi, ' ')
  const plain = written.replace(REFERENCE, (joined) => {
    if (!joined.includes('&')) return joined
    // an entity becomes a character that may join the words around it
    const around = joined.replace(/&[^;&]*;/, ' ').match(WORD) ?? []
    for (const part of around) if (!shown.includes(part)) hidden.add(part)
    return ' '
  })
  for (const [word] of plain.matchAll(WORD)) {
    const count = left.get(word) ?? 0
    if (count === 0) hidden.add(word)
    else left.set(word, count - 1)
    if (hidden.size >= MAX_NAMED) break
  }
  return [...hidden].slice(0, MAX_NAMED)
}

/** The visible text, without captions of steps, which the page adds. */
function textOf(node: Nodes): string {
  if (node.type === 'text') return node.value
  if (!('children' in node)) return ''
  if (node.type === 'element' && node.tagName === 'figcaption') return ''
  if (node.type === 'element' && node.tagName === 'code') return ` ${codeOf(node)} `
  return ` ${node.children.map(textOf).join('')} `
}

/** A colour may begin and end within a word. */
function codeOf(node: Nodes): string {
  if (node.type === 'text') return node.value
  return 'children' in node ? node.children.map(codeOf).join('') : ''
}
