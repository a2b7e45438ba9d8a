import type { Element, ElementContent } from 'hast'
import type { Code, Definition, Link, LinkReference, Nodes, Parents, TableRow } from 'mdast'
import { defaultHandlers, type Options } from 'remark-rehype'
import { HANDLERS } from './handlers.ts'
import { element, text } from './hast.ts'

type Handlers = NonNullable<Options['handlers']>
type State = Parameters<typeof defaultHandlers.link>[0]

/**
 * Handlers for a plan: they show all of `source` that an agent reads, also what a reader would not see. `stepLines`:
 * lines of fences whose caption already shows the words after their language.
 */
export function everythingHandlers(source: string, stepLines: ReadonlySet<number>): Handlers {
  const literal = (node: Nodes) =>
    source.slice(node.position?.start.offset ?? 0, node.position?.end.offset ?? 0)
  const asWritten = (_: State, node: Nodes) =>
    element('code', { className: ['raw-html'] }, [text(literal(node))])
  return {
    ...HANDLERS,
    definition: (_, node: Definition): ElementContent => blockOf(literal(node)),
    image: asWritten,
    imageReference: asWritten,
    link(state, node: Link): ElementContent[] {
      const made = one(defaultHandlers.link(state, node))
      const { url, title } = node
      const address = title ? `${url} "${title}"` : url
      return !title && isItsAddress(node) ? made : [...made, ...beside(`(${address})`)]
    },
    linkReference(state, node: LinkReference): ElementContent[] {
      const made = one(defaultHandlers.linkReference(state, node))
      return node.referenceType === 'full'
        ? [...made, ...beside(`[${node.label ?? node.identifier}]`)]
        : made
    },
    code(state, node: Code): ElementContent[] {
      const made = one(defaultHandlers.code(state, node))
      const info = [node.lang, node.meta].filter(Boolean).join(' ')
      const isStep = stepLines.has(node.position?.start.line ?? 0)
      if (info === '' || isStep) return made
      return [element('p', { className: ['fence-info'] }, [text(info)]), ...made]
    },
    tableRow(state, node: TableRow, parent: Parents | undefined): ElementContent {
      if (parent?.type !== 'table') return defaultHandlers.tableRow(state, node, parent)
      const align = [...(parent.align ?? [])]
      while (align.length < node.children.length) align.push(null)
      return defaultHandlers.tableRow(state, node, { ...parent, align })
    },
  }
}

/** Whether the link shows exactly its address. */
function isItsAddress({ url, children }: Link): boolean {
  const [only, ...others] = children
  if (only?.type !== 'text' || others.length > 0) return false
  return ['', 'http://', 'mailto:'].some((before) => before + only.value === url)
}

function one(made: ElementContent | ElementContent[]): ElementContent[] {
  return Array.isArray(made) ? made : [made]
}

function beside(words: string): ElementContent[] {
  return [text(' '), element('span', { className: ['link-address'] }, [text(words)])]
}

function blockOf(words: string): Element {
  const code = element('code', { className: ['raw-html'] }, [text(words)])
  return element('pre', { className: ['raw-html'] }, [code])
}
