import { raw } from 'hono/html'
import { visibleText } from '../../rendering/hidden-characters.ts'
import { renderMarkdown } from '../../rendering/markdown/markdown.ts'
import { GateLine } from '../case/gate-card.tsx'
import { memoryPage } from '../shell/addresses.ts'
import { Isolated } from '../shell/isolated.tsx'
import type { SessionPageData } from './data.ts'

/** What the case asks for, and what would prove it: a plan is judged against that. */
export function CaseContext({ data }: { data: SessionPageData }) {
  const { contents, gate, instructions } = data
  const { id, title, description } = contents.case
  return (
    <section class="card case-context" id="case-context" aria-labelledby="case-context-title">
      <details id="case-text">
        <summary>
          <h2 id="case-context-title">The case</h2>
          <Isolated text={title} />
        </summary>
        <div class="case-text stack">
          {description.trim() !== '' && (
            <Markdown caseId={id} text={description} prefix="text-case-" />
          )}
          {gate.items.length > 0 && (
            <ul class="gate-items stack">
              {gate.items.map((item) => (
                <GateLine caseId={id} item={item} />
              ))}
            </ul>
          )}
          {instructions.trim() !== '' && (
            <details id="standing-instructions">
              <summary>Standing instructions</summary>
              <Markdown caseId={id} text={instructions} prefix="text-rules-" />
            </details>
          )}
        </div>
      </details>
    </section>
  )
}

async function Markdown(props: { caseId: string; text: string; prefix: string }) {
  const { caseId, text, prefix } = props
  const options = {
    base: memoryPage(caseId, ''),
    headingShift: /^ {0,3}# /m.test(text) ? 2 : 1,
    idPrefix: prefix,
  }
  const html = await renderMarkdown(text, options)
  return html === null ? (
    <pre class="plain-text">{visibleText(text)}</pre>
  ) : (
    <div class="markdown">{raw(html)}</div>
  )
}
