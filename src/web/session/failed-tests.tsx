import { counted } from '../../model/amounts.ts'
import { type FailedTest, failedTestPlace } from '../../model/failed-test.ts'
import { visibleText } from '../../rendering/hidden-characters.ts'
import type { SessionView } from './session-view.ts'

/** As many are shown at once; the others take a click. */
const SHOWN = 5

/** The names of the tests that failed, with message and place: what a person looks for first in the output. */
export function FailedTests({ view }: { view: SessionView }) {
  const { failed_tests, tests } = view.session
  if (failed_tests.length === 0) return null
  const rest = failed_tests.slice(SHOWN)
  const unnamed = (tests?.failed ?? 0) - failed_tests.length
  return (
    <section class="card" id="failed-tests" aria-labelledby="failed-tests-title">
      <h2 id="failed-tests-title">Failed tests</h2>
      <TestList tests={failed_tests.slice(0, SHOWN)} />
      {rest.length > 0 && (
        <details id="more-failed-tests">
          <summary>{rest.length} more</summary>
          <TestList tests={rest} />
        </details>
      )}
      {unnamed > 0 && (
        <p class="muted small">{counted(unnamed, 'failed test')} more: see the report.</p>
      )}
    </section>
  )
}

function TestList({ tests }: { tests: readonly FailedTest[] }) {
  return (
    <ul class="failed-tests">
      {tests.map((test) => (
        <li>
          <strong>{visibleText(test.name)}</strong>
          <Place test={test} />
          {test.message !== null && <p class="test-message">{visibleText(test.message)}</p>}
        </li>
      ))}
    </ul>
  )
}

function Place({ test }: { test: FailedTest }) {
  const place = failedTestPlace(test)
  return place === null ? null : <code class="small">{visibleText(place)}</code>
}
