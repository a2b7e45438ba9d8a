import { refusedActions, refusedCount, refusedText } from '../../model/refused-actions.ts'
import { visibleText } from '../../rendering/hidden-characters.ts'
import type { SessionView } from './session-view.ts'

/** What the agent wanted to do and was not allowed to: it may be why the result is not what was asked for. */
export function RefusedActions({ view }: { view: SessionView }) {
  const { plan, work, first } = refusedActions(view.session.trail)
  if (plan + work === 0) return null
  const more = plan + work - first.length
  return (
    <section class="card" id="refused-actions" aria-labelledby="refused-actions-title">
      <h2 id="refused-actions-title">Refused actions</h2>
      <p class="muted small">
        {refusedCount(plan + work)}
        {plan > 0 && `, ${plan} of them while it planned`}.
      </p>
      <ul class="failed-tests">
        {first.map((refused) => (
          <li>
            <strong>{visibleText(refusedText(refused))}</strong>
            <p class="test-message">{visibleText(refused.reason)}</p>
          </li>
        ))}
      </ul>
      {more > 0 && <p class="muted small">{more} more: see the audit trail.</p>}
    </section>
  )
}
