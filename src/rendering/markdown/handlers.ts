import type { ElementContent } from 'hast'
import type { FootnoteDefinition, FootnoteReference, Html, Nodes, Parents, Root } from 'mdast'
import type { Options } from 'remark-rehype'
import { element } from './hast.ts'
import { slugOf } from './links.ts'

const MAX_ADDRESS = 2000
const BLOCK_PARENTS = ['root', 'blockquote', 'listItem', 'footnoteDefinition']

/**
 * Handlers for nodes that the defaults would hide. Raw HTML becomes text. Each footnote appears where it was written,
 * even if nothing refers to it: otherwise a plan could run a step in a footnote that the reader never saw.
 */
export const HANDLERS: NonNullable<Options['handlers']> = {
  html(_, node: Html, parent: Parents | undefined): ElementContent {
    if (/^<br\s*\/?>$/i.test(node.value)) return element('br', {}, [])
    const code = element('code', { className: ['raw-html'] }, [{ type: 'text', value: node.value }])
    const isBlock = BLOCK_PARENTS.includes(parent?.type ?? 'root')
    return isBlock ? element('pre', { className: ['raw-html'] }, [code]) : code
  },
  footnoteReference(_, { identifier, label }: FootnoteReference): ElementContent {
    const text = { type: 'text', value: label ?? identifier } as const
    return element('sup', {}, [element('a', { href: `#fn-${slugOf(identifier)}` }, [text])])
  },
  footnoteDefinition(state, node: FootnoteDefinition): ElementContent {
    const { identifier, label } = node
    const text = { type: 'text', value: `[${label ?? identifier}]` } as const
    const name = element('span', { className: ['footnote-label'] }, [text])
    const properties = { className: ['footnote'], id: `fn-${slugOf(identifier)}` }
    return element('div', properties, [name, ...state.all(node)])
  },
}

/** For texts of the package itself: of raw HTML only the pictures are shown. */
export const PACKAGE_HANDLERS: NonNullable<Options['handlers']> = {
  ...HANDLERS,
  html(_, node: Html): ElementContent[] {
    return [...node.value.matchAll(/<img\s[^>]*>/g)].map(([tag]) => {
      const [src, alt] = ['src', 'alt'].map(
        (name) => new RegExp(`\\s${name}="([^"]*)"`).exec(tag)?.[1] ?? '',
      )
      return element('img', { src, alt }, [])
    })
  },
}

/**
 * One long address behind a thousand short references would make a huge page from a small text. With `everything`,
 * links keep their own address: it appears only once.
 */
export function withoutLongAddresses(everything: boolean): (root: Root) => void {
  const visit = (node: Nodes): void => {
    if (!everything || node.type === 'definition') {
      if ('url' in node && node.url.length > MAX_ADDRESS) node.url = ''
      if ('title' in node) node.title = null
    }
    if ('children' in node) for (const child of node.children) visit(child)
  }
  return visit
}
