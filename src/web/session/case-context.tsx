import { raw } from 'hono/html'
import type { GateItem } from '../../model/gate.ts'
import { directionOf } from '../../rendering/direction.ts'
import { visibleText } from '../../rendering/hidden-characters.ts'
import { renderMarkdown } from '../../rendering/markdown/markdown.ts'
import { casePage, memoryPage } from '../shell/addresses.ts'
import type { SessionPageData } from './data.ts'

/** What the case asks for, and what would prove it: a plan is judged against that. */
export function CaseContext({ data }: { data: SessionPageData }) {
  const { folder, gate, instructions, session } = data
  const { id, description } = folder.case
  const isOpen = session.state === 'plan_ready'
  return (
    <section class="card case-context" id="case-context" aria-labelledby="case-context-title">
      <header>
        <h2 id="case-context-title">The case</h2>
        <a class="small" href={casePage(id)}>
          Open the case
        </a>
      </header>
      {description.trim() !== '' && (
        <Folded id="case-description" label="Description" isOpen={isOpen}>
          <Markdown caseId={id} text={description} prefix="text-case-" />
        </Folded>
      )}
      {gate.items.length > 0 && (
        <div>
          <h3>Proof checklist</h3>
          <ul class="gate-items stack">
            {gate.items.map((item) => (
              <ChecklistItem item={item} />
            ))}
          </ul>
        </div>
      )}
      {instructions.trim() !== '' && (
        <Folded id="standing-instructions" label="Standing instructions" isOpen={false}>
          <Markdown caseId={id} text={instructions} prefix="text-rules-" />
        </Folded>
      )}
    </section>
  )
}

interface FoldedProps {
  id: string
  label: string
  isOpen: boolean
  // biome-ignore lint/suspicious/noExplicitAny: what JSX takes as children
  children?: any
}

/** A long text scrolls within itself, so it can be focused. */
function Folded({ id, label, isOpen, children }: FoldedProps) {
  return (
    <details id={id} open={isOpen}>
      <summary>{label}</summary>
      {/* biome-ignore lint/a11y/useSemanticElements: a region of the page that scrolls */}
      <div class="context-text" role="region" aria-label={label} tabindex={0}>
        {children}
      </div>
    </details>
  )
}

async function Markdown(props: { caseId: string; text: string; prefix: string }) {
  const { caseId, text, prefix } = props
  const options = { base: memoryPage(caseId, ''), headingShift: 3, idPrefix: prefix }
  const html = await renderMarkdown(text, options)
  return html === null ? (
    <pre class="plain-text">{visibleText(text)}</pre>
  ) : (
    <div class="markdown">{raw(html)}</div>
  )
}

function ChecklistItem({ item }: { item: GateItem }) {
  const { description, type, required, satisfied_by } = item
  const isMet = satisfied_by !== null
  return (
    <li class={isMet ? 'met' : required ? 'missing' : 'optional'}>
      <span class="gate-mark" aria-hidden="true">
        {isMet ? '✓' : required ? '○' : '–'}
      </span>
      <span>
        <span class="visually-hidden">{isMet ? 'Met: ' : 'Not met: '}</span>
        <bdi dir={directionOf(description)}>{visibleText(description)}</bdi>{' '}
        <span class="small muted">
          {type ?? 'no type'}
          {required ? ', required' : ''}
        </span>
      </span>
    </li>
  )
}
