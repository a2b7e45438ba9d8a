import type { Element, ElementContent } from 'hast'

/**
 * Takes the steps out of the lists, quotes and footnotes around them, which are continued after each: however deep a
 * step is nested, it is as wide as the text.
 */
export function liftedSteps(node: ElementContent): ElementContent[] {
  if (node.type !== 'element' || isStep(node)) return [node]
  const pieces: ElementContent[] = []
  let children: ElementContent[] = []
  /** How many items of a list came before `children`. */
  let before = 0
  let items = 0
  const isEmpty = () => children.every(isBlank)
  const close = () => {
    if (!isEmpty()) pieces.push({ ...node, properties: properties(node, pieces, before), children })
    children = []
    before = items
  }
  for (const child of node.children) {
    for (const part of liftedSteps(child)) {
      if (isStep(part)) {
        close()
        pieces.push(part)
      } else children.push(part)
    }
    if (child.type === 'element' && child.tagName === 'li') {
      items++
      if (isEmpty()) before = items
    }
  }
  if (pieces.length === 0) return [node]
  close()
  return pieces
}

/** Of the next piece of a node: numbers of a list go on, and an item has one mark and an element one id. */
function properties(
  { tagName, properties: own }: Element,
  pieces: readonly ElementContent[],
  before: number,
): Element['properties'] {
  const numbered = tagName === 'ol' ? { start: Number(own.start ?? 1) + before } : {}
  if (pieces.every(isStep)) return { ...own, ...numbered }
  const { id: _, ...others } = own
  return { ...others, ...numbered, ...(tagName === 'li' ? { className: ['continued'] } : {}) }
}

function isStep(node: ElementContent): boolean {
  return node.type === 'element' && node.tagName === 'figure'
}

function isBlank(node: ElementContent): boolean {
  return node.type === 'text' && node.value.trim() === ''
}
