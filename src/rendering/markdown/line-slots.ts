import type { Comment, Element, ElementContent, Root } from 'hast'
import type { Slot } from './options.ts'

/**
 * Puts a mark for each slot after the block, or at the end of the list item, that has its line; a line between two
 * blocks belongs to the first. Reads `data-lines`.
 */
export function placeSlots(root: Root, slots: readonly Slot[]): void {
  if (slots.length === 0) return
  const left = new Set([...slots].sort((a, b) => a.line - b.line))
  const children = root.children as ElementContent[]
  root.children = children.flatMap((child, at): ElementContent[] => {
    if (child.type !== 'element') return [child]
    placeInItems(child, left)
    return [child, ...taken(left, 0, firstLine(children.slice(at + 1)) - 1)]
  })
  root.children.push(...taken(left, 0, Number.POSITIVE_INFINITY))
}

/** Inner items first: a line of a nested item belongs to the outer one, too. */
function placeInItems(node: Element, left: Set<Slot>): void {
  for (const child of node.children) {
    if (child.type !== 'element') continue
    placeInItems(child, left)
    const lines = child.tagName === 'li' ? linesOf(child) : null
    if (lines) child.children.push(...taken(left, lines.from, lines.to))
  }
}

/** Takes the slots with these lines out of `left`. */
function taken(left: Set<Slot>, from: number, to: number): Comment[] {
  const found = [...left].filter(({ line }) => from <= line && line <= to)
  for (const slot of found) left.delete(slot)
  return found.map(({ name }) => ({ type: 'comment', value: `slot:${name}` }))
}

function firstLine(nodes: readonly ElementContent[]): number {
  for (const node of nodes) {
    const lines = linesOf(node)
    if (lines) return lines.from
  }
  return Number.POSITIVE_INFINITY
}

function linesOf(node: ElementContent): { from: number; to: number } | null {
  if (node.type !== 'element') return null
  const [from, to] = String(node.properties.dataLines ?? '').split('-')
  return from && to ? { from: Number(from), to: Number(to) } : null
}

const MARK = /<!--slot:([\w-]+)-->/

/** The HTML around the slots: pieces of HTML and names of slots in turn, beginning with a piece. */
export function slotted(html: string): string[] {
  return html.split(MARK)
}
