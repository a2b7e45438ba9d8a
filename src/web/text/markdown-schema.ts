import type { Options as Schema } from 'rehype-sanitize'

/** What may come of a text, before the page's own marks are added. It is not GitHub's list: it is shorter. */
export function schemaFor(idPrefix: string): Schema {
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
  ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'p', 'div', 'blockquote', 'pre', 'hr', 'br'],
  ...['ul', 'ol', 'li', 'input', 'table', 'thead', 'tbody', 'tr', 'th', 'td'],
  ...['a', 'img', 'code', 'em', 'strong', 'del', 'sup', 'span'],
]
