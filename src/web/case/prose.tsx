import { raw } from 'hono/html'
import { visibleText } from '../../rendering/hidden-characters.ts'
import { renderMarkdown } from '../../rendering/markdown/markdown.ts'
import { memoryPage } from '../shell/addresses.ts'

interface ProseProps {
  /** Of the case, whose memory files links may name. */
  id: string
  text: string
  /** The level of the heading that it stands under. */
  under: 1 | 2
}

/** Markdown of a case as it reads; as plain text where it is too complex to be rendered. */
export async function Prose({ id, text, under }: ProseProps) {
  const { head, body } = withoutFrontmatter(text)
  const headingShift = /^ {0,3}# /m.test(body) ? under : under - 1
  const options = { base: memoryPage(id, ''), headingShift, idPrefix: 'text-' }
  const html = await renderMarkdown(body, options)
  return (
    <>
      {head !== null && (
        <pre class="frontmatter" tabindex={0}>
          {visibleText(head)}
        </pre>
      )}
      {html !== null ? (
        <div class="markdown">{raw(html)}</div>
      ) : (
        <>
          <p class="muted small">It is too complex to be rendered, so it is shown as it stands.</p>
          <pre class="plain-text" tabindex={0}>
            {visibleText(body)}
          </pre>
        </>
      )}
    </>
  )
}

/** What stands between the first two lines of dashes is no markdown. */
function withoutFrontmatter(text: string): { head: string | null; body: string } {
  const found = /^\ufeff?---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)/.exec(text)
  return found ? { head: found[1]!, body: text.slice(found[0].length) } : { head: null, body: text }
}
