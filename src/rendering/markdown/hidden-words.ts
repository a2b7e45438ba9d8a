import type { Nodes } from 'hast'
import { visibleText } from '../hidden-characters.ts'

const MAX_NAMED = 12
const WORD = /[\p{L}\p{N}\p{M}]+/gu
const REFERENCE = /[\p{L}\p{N}\p{M}]*&(?:#\w{1,8}|[A-Za-z]\w{0,31});[\p{L}\p{N}\p{M}]*/gu
/** Numbers and boxes of lists, which a browser draws itself. */
const LIST_MARKS = /^(?:[ \t]*(?:>|(?:[-+*]|\d{1,9}[.)])(?=[ \t]|$)))+(?:[ \t]+\[[xX]\](?=\s))?/gm

/**
 * Pure. The first words of a markdown text that `root`, what became of it, shows less often than they
 * were written. It knows nothing of markdown's rules, so it also sees what those would hide that
 * nobody has thought of. `stepLines` are fences whose first line is shown in other words.
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
    lines[line - 1] = (lines[line - 1] ?? '').replace(/(`{3}|~{3}).*$/s, '')
  }
  const hidden = new Set<string>()
  const written = visibleText(lines.join('\n'))
    .replace(LIST_MARKS, '')
    .replace(/<br\s*\/?>/gi, ' ')
  const plain = written.replace(REFERENCE, (joined) => {
    // it stands for some sign that may join the words around it
    const around = joined.replace(/&[^;]*;/, ' ').match(WORD) ?? []
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

/** What is in sight of it; the caption of a step is the page's own. */
function textOf(node: Nodes): string {
  if (node.type === 'text') return node.value
  if (!('children' in node)) return ''
  if (node.type === 'element' && node.tagName === 'figcaption') return ''
  return ` ${node.children.map(textOf).join('')} `
}
