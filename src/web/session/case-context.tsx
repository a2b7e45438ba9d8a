import { GateLine } from '../case/gate-card.tsx'
import { Isolated } from '../shell/isolated.tsx'
import { Prose } from '../shell/prose.tsx'
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
            <Prose caseId={id} text={description} under={2} idPrefix="text-case-" />
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
              <Prose caseId={id} text={instructions} under={2} idPrefix="text-rules-" />
            </details>
          )}
        </div>
      </details>
    </section>
  )
}
