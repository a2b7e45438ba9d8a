import type { FailedTest } from '../../model/failed-test.ts'

/**
 * The result of a test report. A test that only groups its subtests is not counted. `run` is `passed + failed`;
 * skipped and todo tests are only in `skipped`. `ok` is false if a test failed or the report is incomplete: a
 * truncated plan, a bail out, truncated XML, a test or a Go package without its end, or totals of its own that
 * contradict the tests in it. `failures` has the first failed tests. `flaky` tests passed on a retry, and are among the
 * passed ones.
 */
export interface TestResults {
  run: number
  passed: number
  failed: number
  skipped: number
  ok: boolean
  failures: FailedTest[]
  flaky?: { count: number; names: string[] }
}

/** For example `47 of 47 tests passed, 1 flaky` or `2 of 47 tests failed, 3 skipped`. */
export function testNote(results: Omit<TestResults, 'failures'>): string {
  const { run, passed, failed, skipped, ok, flaky } = results
  const counted =
    failed > 0 ? `${failed} of ${run} tests failed` : `${passed} of ${run} tests passed`
  const tests = run === 0 ? 'no tests ran' : run === 1 ? counted.replace('tests', 'test') : counted
  const notes = [tests]
  if (flaky) notes.push(`${flaky.count} flaky`)
  if (skipped > 0) notes.push(`${skipped} skipped`)
  if (!ok && failed === 0) notes.push('but the report is incomplete')
  return notes.join(', ')
}

/** Whether the note on a report says that tests ran, and all of them passed. */
export function isPassingNote(note: string): boolean {
  const [, passed, run] =
    /^(\d+) of (\d+) tests? passed(?:, \d+ flaky)?(?:, \d+ skipped)?$/.exec(note) ?? []
  return passed !== undefined && passed === run && run !== '0'
}
