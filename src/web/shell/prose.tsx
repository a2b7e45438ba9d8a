import { raw } from 'hono/html'
import { visibleText } from '../../rendering/hidden-characters.ts'
import { renderMarkdown } from '../../rendering/markdown/markdown.ts'
import type { MarkedStep } from '../../rendering/markdown/options.ts'
import { memoryPage } from './addresses.ts'
import { TextBox } from './text-box.tsx'

interface ProseProps {
  /** Of the case, whose memory files links may name. */
  caseId: string
  text: string
  /** The level of the heading above it. */
  under: 1 | 2
  /** Before the ids of its headings: no id of the page has it. */
  idPrefix?: string
  /** Of the whole text: the blocks that will run. */
  steps?: readonly MarkedStep[] | undefined
}

/** Markdown of a case, rendered; as plain text if it is too complex to be rendered. */
export async function Prose(props: ProseProps) {
  const { caseId, text, under, idPrefix = 'text-', steps = [] } = props
  const { frontmatter, body } = splitFrontmatter(text)
  const headingShift = /^ {0,3}# /m.test(body) ? under : under - 1
  const above = text.slice(0, text.length - body.length).split('\n').length - 1
  const html = await renderMarkdown(body, {
    base: memoryPage(caseId, ''),
    headingShift,
    idPrefix,
    steps: steps.map((step) => ({ ...step, line: step.line - above })),
  })
  return (
    <>
      {frontmatter !== null && (
        <TextBox label="Fields" class="frontmatter">
          {visibleText(frontmatter)}
        </TextBox>
      )}
      {html !== null ? (
        <div class="markdown">{raw(html)}</div>
      ) : (
        <>
          <p class="muted small">This text is too complex to render, so here is its source.</p>
          <TextBox label="Source" class="plain-text">
            {visibleText(body)}
          </TextBox>
        </>
      )}
    </>
  )
}

/** The fields between the first two lines of dashes aren't markdown. */
function splitFrontmatter(text: string): { frontmatter: string | null; body: string } {
  const found = /^\ufeff?---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)/.exec(text)
  if (!found) return { frontmatter: null, body: text }
  return { frontmatter: found[1]!, body: text.slice(found[0].length) }
}
