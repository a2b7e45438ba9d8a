import type { Root } from 'hast'
import rehypeSanitize from 'rehype-sanitize'
import rehypeStringify from 'rehype-stringify'
import remarkGfm from 'remark-gfm'
import remarkParse from 'remark-parse'
import remarkRehype from 'remark-rehype'
import { unified } from 'unified'
import { hiddenWords } from './hidden-words.ts'
import type { MarkdownOptions, Rendered } from './markdown.ts'
import { decorate } from './markdown-elements.ts'
import { everythingHandlers } from './markdown-everything.ts'
import { HANDLERS, withoutLongAddresses } from './markdown-nodes.ts'
import { schemaFor } from './markdown-schema.ts'

const ID_PREFIX = 'text-'

/**
 * Slow, and very slow on hostile input: called in a worker only (`markdown.ts`). The sanitizer comes
 * before `decorate`, which adds what no text may bring itself, as the marks of steps.
 */
export function markdownHtml(text: string, options: MarkdownOptions): Rendered {
  const settings = { ...options, idPrefix: options.idPrefix ?? ID_PREFIX }
  const everything = options.everything === true
  const stepLines = new Set(options.steps?.map(({ line }) => line))
  const handlers = everything ? everythingHandlers(text, stepLines) : HANDLERS
  let hidden: string[] = []
  const html = unified()
    .use(remarkParse)
    .use(remarkGfm)
    .use(() => withoutLongAddresses(everything))
    .use(remarkRehype, { handlers, clobberPrefix: '' })
    .use(rehypeSanitize, schemaFor(settings.idPrefix))
    .use(() => decorate(settings))
    .use(() => (root: Root) => {
      if (everything) hidden = hiddenWords(text, root, stepLines)
    })
    .use(rehypeStringify)
    .processSync(text)
    .toString()
  return { html, hidden }
}
