import type { FailedTest } from '../../model/failed-test.ts'
import { keptReport, type Report } from './report-data.ts'
import { outcomesOf, outcomesText, TestTree } from './test-tree.tsx'

interface TestsCardProps {
  reports: readonly Report[]
  /** What the record keeps, for a report that is not on this machine. */
  failedTests: readonly FailedTest[]
  counts: { failed: number } | null
  /** The page with all tests of an artifact. */
  pageOf?: (artifact: string) => string
}

/** A page has more to show than tests. */
const MAX_TESTS = 300

/** The tests of a session or a proof whose tests failed: what a person looks for first. */
export function FailedTests({ reports, failedTests, counts, pageOf }: TestsCardProps) {
  const failing = reports.filter(({ tests }) => tests.some(({ outcome }) => outcome === 'failed'))
  const hasKept = failing.length === 0 && failedTests.length > 0
  const shown = hasKept ? [keptReport(failedTests, counts)] : failing
  if (shown.length === 0) return null
  return (
    <section class="card" id="failed-tests" aria-labelledby="failed-tests-title">
      <h2 id="failed-tests-title">Failed tests</h2>
      {shown.map((report, index) => {
        const { artifact, tests } = report
        const page = artifact === null ? undefined : pageOf?.(artifact)
        return (
          <>
            {page !== undefined && (
              <p class="facts">
                <a href={page}>
                  <code>{artifact}</code>
                </a>
                <span>{outcomesText(outcomesOf(tests))}</span>
              </p>
            )}
            <TestTree report={report} id={`tests-${index + 1}`} limit={MAX_TESTS} more={page} />
          </>
        )
      })}
    </section>
  )
}
