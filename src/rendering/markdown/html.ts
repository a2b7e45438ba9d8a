import type { Root } from 'hast'
import type { Options as Schema } from 'rehype-sanitize'
import rehypeSanitize from 'rehype-sanitize'
import rehypeStringify from 'rehype-stringify'
import remarkGfm from 'remark-gfm'
import remarkParse from 'remark-parse'
import remarkRehype from 'remark-rehype'
import { unified } from 'unified'
import { decorate } from './elements.ts'
import { everythingHandlers } from './everything.ts'
import { HANDLERS, PACKAGE_HANDLERS, withoutLongAddresses } from './handlers.ts'
import { hiddenWords } from './hidden-words.ts'
import type { Heading, MarkdownOptions, Rendered } from './options.ts'

const ID_PREFIX = 'text-'

/**
 * Slow, and very slow on hostile input: only a worker calls it (`markdown.ts`). The sanitizer runs before `decorate`,
 * because a text must not bring the marks that `decorate` adds.
 */
export function markdownHtml(text: string, options: MarkdownOptions): Rendered {
  const settings = { ...options, idPrefix: options.idPrefix ?? ID_PREFIX }
  const everything = options.everything === true
  const stepLines = new Set(options.steps?.map(({ line }) => line))
  const handlers = everything
    ? everythingHandlers(text, stepLines)
    : options.addresses
      ? PACKAGE_HANDLERS
      : HANDLERS
  let hidden: string[] = []
  const headings: Heading[] = []
  const html = unified()
    .use(remarkParse)
    .use(remarkGfm)
    .use(() => withoutLongAddresses(everything))
    .use(remarkRehype, { handlers, clobberPrefix: '' })
    .use(rehypeSanitize, schemaFor(settings.idPrefix))
    .use(() => decorate(settings, headings))
    .use(() => (root: Root) => {
      if (everything) hidden = hiddenWords(text, root, stepLines)
    })
    .use(rehypeStringify)
    .processSync(text)
    .toString()
  return { html, headings, hidden }
}

/** The elements and attributes that a text may produce. The list is shorter than GitHub’s. */
function schemaFor(idPrefix: string): Schema {
  return {
    tagNames: TAG_NAMES,
    attributes: {
      '*': [],
      a: ['href'],
      code: [['className', 'raw-html', /^language-[\w+#.-]{1,40}$/]],
      div: [['className', 'footnote'], 'id'],
      img: ['src', 'alt'],
      input: ['checked', ['disabled', true], ['type', 'checkbox']],
      li: [['className', 'task-list-item']],
      ol: ['start', ['className', 'contains-task-list']],
      p: [['className', 'fence-info']],
      pre: [['className', 'raw-html']],
      span: [['className', 'footnote-label', 'link-address']],
      td: ['align'],
      th: ['align'],
      ul: [['className', 'contains-task-list']],
    },
    required: { input: { disabled: true, type: 'checkbox' } },
    protocols: { href: ['http', 'https', 'mailto'], src: ['http', 'https'] },
    clobber: ['id'],
    clobberPrefix: idPrefix,
    strip: ['script'],
  }
}

const TAG_NAMES = [
  'h1',
  'h2',
  'h3',
  'h4',
  'h5',
  'h6',
  'p',
  'div',
  'blockquote',
  'pre',
  'hr',
  'br',
  'ul',
  'ol',
  'li',
  'input',
  'table',
  'thead',
  'tbody',
  'tr',
  'th',
  'td',
  'a',
  'img',
  'code',
  'em',
  'strong',
  'del',
  'sup',
  'span',
]
