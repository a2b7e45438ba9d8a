import { runName, usageText } from '../../model/usage.ts'
import { visibleText } from '../../rendering/hidden-characters.ts'
import type { SessionView } from './session-view.ts'

/** Which models the agent used, and how much, run by run. */
export function UsageCard({ view }: { view: SessionView }) {
  const { usage, usage_total } = view.json
  const total = usageText(usage_total)
  if (usage.every((run) => usageText(run) === '')) return null
  return (
    <section class="card" id="usage" aria-labelledby="usage-title">
      <h2 id="usage-title">Usage</h2>
      <dl class="fact-list">
        {usage.map((run, index) => (
          <>
            <dt>{runName(usage, index)}</dt>
            <dd>{visibleText(usageText(run)) || <span class="muted">not reported</span>}</dd>
          </>
        ))}
        {usage.length > 1 && total !== '' && (
          <>
            <dt>Total</dt>
            <dd>
              <strong>{total}</strong>
            </dd>
          </>
        )}
      </dl>
      {usage_total.cost_usd !== null && (
        <p class="muted small">
          The cost is the agent's own estimate. With a subscription it is not what you pay.
        </p>
      )}
    </section>
  )
}
