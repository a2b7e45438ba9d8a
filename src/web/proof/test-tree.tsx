import { counted } from '../../model/amounts.ts'
import { failedTestPlace } from '../../model/failed-test.ts'
import { visibleText } from '../../rendering/hidden-characters.ts'
import type { ReportedTest, TestOutcome } from '../../runners/reports/reported-tests.ts'
import { Isolated } from '../shell/isolated.tsx'
import { AnsiBox } from '../shell/text-box.tsx'
import type { Report } from './report-data.ts'

/** A suite with its tests and suites, in the order of the report. */
interface Suite {
  name: string
  tests: ReportedTest[]
  suites: Map<string, Suite>
  counts: Record<TestOutcome, number>
}

interface TestTreeProps {
  report: Report
  /** Begins the ids, so that a refresh leaves open what the reader has opened. */
  id: string
  /** Only this many tests are listed, failed ones first. */
  limit: number
  /** Where the others are. */
  more?: string | undefined
  /** A report in which nothing failed shows its first suites and tests at once. */
  isOpen?: boolean
}

/** The tests of a report: failed ones first, each with what is known of it; suites and passed tests are folded. */
export function TestTree({ report, id, limit, more, isOpen = false }: TestTreeProps) {
  const root = treeOf(report.tests)
  const failed = root.counts.failed
  const room = { left: Math.max(0, limit - failed) }
  // called, not as an element: an element would use up the room later
  const list = SuiteContent({ suite: root, id, room, isOpen: isOpen && failed === 0 })
  const shown = failed + (Math.max(0, limit - failed) - room.left)
  const omitted = report.omitted + Math.max(0, report.tests.length - shown)
  return (
    <div class="test-tree stack" id={id}>
      {list}
      {omitted > 0 && (
        <p class="muted small">
          {counted(omitted, 'more test')}
          {more === undefined ? ' in the report.' : ': see '}
          {more !== undefined && <a href={more}>all tests</a>}
        </p>
      )}
    </div>
  )
}

/** For example `2 failed, 1 flaky, 20 passed, 1 skipped`. */
export function outcomesText(counts: Record<TestOutcome, number>): string {
  return (['failed', 'flaky', 'passed', 'skipped'] as const)
    .filter((outcome) => counts[outcome] > 0)
    .map((outcome) => `${counts[outcome].toLocaleString('en')} ${outcome}`)
    .join(', ')
}

export function outcomesOf(tests: readonly ReportedTest[]): Record<TestOutcome, number> {
  const counts = { failed: 0, flaky: 0, passed: 0, skipped: 0 }
  for (const { outcome } of tests) counts[outcome] += 1
  return counts
}

function treeOf(tests: readonly ReportedTest[]): Suite {
  const root = newSuite('')
  for (const test of tests) {
    let suite = root
    suite.counts[test.outcome] += 1
    for (const name of test.path.slice(0, -1)) {
      const inner = suite.suites.get(name) ?? newSuite(name)
      suite.suites.set(name, inner)
      suite = inner
      suite.counts[test.outcome] += 1
    }
    suite.tests.push(test)
  }
  return root
}

function newSuite(name: string): Suite {
  return { name, tests: [], suites: new Map(), counts: outcomesOf([]) }
}

interface SuiteProps {
  suite: Suite
  id: string
  /** How many tests that did not fail may still be listed. It is used up while the tree is made. */
  room: { left: number }
  isOpen?: boolean
}

/** Further failed tests of a suite are folded. */
const MAX_FAILED = 10

function SuiteContent({ suite, id, room, isOpen = false }: SuiteProps) {
  const failed = suite.tests.filter(({ outcome }) => outcome === 'failed')
  // hiding one or two would save no space
  const first = failed.length <= MAX_FAILED + 2 ? failed.length : MAX_FAILED
  const inner = [...suite.suites.values()]
  const failing = inner.filter(({ counts }) => counts.failed > 0)
  const others = inner.filter(({ counts }) => counts.failed === 0)
  return (
    <ul class="tests stack">
      {failed.slice(0, first).map((test, index) => (
        <FailedItem test={test} id={`${id}-f${index}`} />
      ))}
      {failed.length > first && (
        <li>
          <details class="suite" id={`${id}-failed`}>
            <summary>
              <Sign outcome="failed" />
              {failed.length - first} more failed
            </summary>
            <ul class="tests stack">
              {failed.slice(first).map((test, index) => (
                <FailedItem test={test} id={`${id}-f${index + first}`} />
              ))}
            </ul>
          </details>
        </li>
      )}
      {failing.map((each, index) => SuiteItem({ suite: each, id: `${id}-s${index}`, room }))}
      {others.map((each, index) => SuiteItem({ suite: each, id: `${id}-o${index}`, room, isOpen }))}
      {(['flaky', 'skipped', 'passed'] as const).map((outcome) =>
        OthersItem({ suite, outcome, id: `${id}-${outcome}`, room, isOpen }),
      )}
    </ul>
  )
}

function SuiteItem({ suite, id, room, isOpen = false }: SuiteProps) {
  const hasFailed = suite.counts.failed > 0
  if (!hasFailed && room.left === 0) return null
  return (
    <li>
      <details class="suite" id={id} open={hasFailed || isOpen}>
        <summary>
          <Sign
            outcome={
              hasFailed
                ? 'failed'
                : suite.counts.passed + suite.counts.flaky > 0
                  ? 'passed'
                  : 'skipped'
            }
          />
          <Isolated text={suite.name} isName />{' '}
          <span class="muted small">{outcomesText(suite.counts)}</span>
        </summary>
        {SuiteContent({ suite, id, room, isOpen })}
      </details>
    </li>
  )
}

function FailedItem({ test, id }: { test: ReportedTest; id: string }) {
  const place = failedTestPlace(test)
  const { path, message, output } = test
  const hasMore = output.trim() !== '' && output.trim() !== message
  return (
    <li class="failed-test">
      <Sign outcome="failed" />
      <div>
        <div class="test-name row">
          <strong>
            <Isolated text={path.at(-1)!} isName />
          </strong>
          {place !== null && <code class="small">{visibleText(place)}</code>}
        </div>
        {message !== null && <p class="test-message">{visibleText(message)}</p>}
        {hasMore && (
          <details class="test-output" id={id}>
            <summary>Output</summary>
            <AnsiBox label={`Output of ${visibleText(path.at(-1)!)}`} text={output} />
          </details>
        )}
      </div>
    </li>
  )
}

interface OthersProps extends SuiteProps {
  outcome: 'flaky' | 'skipped' | 'passed'
}

/** The tests of a suite that passed, on a retry or at once, or were skipped, folded. */
function OthersItem({ suite, outcome, id, room, isOpen = false }: OthersProps) {
  const tests = suite.tests.filter((test) => test.outcome === outcome)
  const shown = tests.slice(0, room.left)
  room.left -= shown.length
  if (shown.length === 0) return null
  return (
    <li>
      <details class="suite" id={id} open={isOpen}>
        <summary>
          <Sign outcome={outcome} />
          {tests.length.toLocaleString('en')} {outcome}
        </summary>
        <ul class="tests stack">
          {shown.map(({ path }) => (
            <li class="other-test">
              <Sign outcome={outcome} />
              <Isolated text={path.at(-1)!} isName />
            </li>
          ))}
        </ul>
      </details>
    </li>
  )
}

const SIGNS = { passed: '✓', flaky: '↻', failed: '✗', skipped: '–' }
const TONES = { passed: 'good-text', flaky: 'muted', failed: 'bad-text', skipped: 'muted' }

function Sign({ outcome }: { outcome: TestOutcome }) {
  return (
    <span class={`test-sign ${TONES[outcome]}`} role="img" aria-label={outcome}>
      {SIGNS[outcome]}
    </span>
  )
}
