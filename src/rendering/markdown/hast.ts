import type { Element, ElementContent, Properties, Text } from 'hast'
import { cutAtWordsFromRight } from '../direction.ts'

export function element(
  tagName: string,
  properties: Properties,
  children: ElementContent[],
): Element {
  return {
    type: 'element',
    tagName,
    properties,
    children,
  }
}

export function text(value: string): Text {
  return { type: 'text', value }
}

/** Code, with each word written from right to left isolated. */
export function isolated(code: readonly ElementContent[]): ElementContent[] {
  return code.flatMap((node): ElementContent[] => {
    if (node.type === 'element') return [{ ...node, children: isolated(node.children) }]
    if (node.type !== 'text') return []
    const pieces = cutAtWordsFromRight(node.value)
    return pieces.map((piece, index) =>
      index % 2 === 1 ? element('bdi', {}, [text(piece)]) : text(piece),
    )
  })
}
