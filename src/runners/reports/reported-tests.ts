import { type Failure, oneLine, shorten } from './failures.ts'

/** A test of a report. `path` has the names of the suites that it is in, then its own. */
export interface ReportedTest {
  path: string[]
  outcome: TestOutcome
  message: string | null
  file: string | null
  line: number | null
  /** What the report says of a failure beyond its message; empty if nothing. */
  output: string
}

/** `flaky`: passed on a retry. */
export type TestOutcome = 'passed' | 'flaky' | 'failed' | 'skipped'

/** The tests of a report by name, as far as the limits allow; the counts of a report include all. */
export interface ReportedTests {
  tests: ReportedTest[]
  /** The number of tests that are left out. */
  omitted: number
}

/** Collects the tests while a report is read. */
export interface TestSink {
  add(test: FoundTest): void
  /** Where the list is now, and what turns all tests after that place into skipped ones. */
  mark(): number
  skipFrom(mark: number): void
}

interface FoundTest extends Partial<Omit<Failure, 'path'>> {
  outcome: TestOutcome
  /** The names are read at the end, since a report may name a suite after its tests. */
  path: () => readonly string[]
  output?: string | null | undefined
}

const MAX_FAILED = 500
const MAX_OTHERS = 5000
const MAX_DEPTH = 12
const MAX_NAME = 200
const MAX_MESSAGE = 500
const MAX_FILE = 300
const MAX_OUTPUT = 4000
const MAX_ALL_OUTPUT = 512 * 1024

export function collectTests(): TestSink & { result(): ReportedTests } {
  const found: FoundTest[] = []
  let failed = 0
  let omitted = 0
  return {
    add(test) {
      const isFull =
        test.outcome === 'failed' ? failed >= MAX_FAILED : found.length - failed >= MAX_OTHERS
      if (isFull) {
        omitted += 1
        return
      }
      if (test.outcome === 'failed') failed += 1
      found.push(test)
    },
    mark: () => found.length,
    skipFrom(mark) {
      for (let at = mark; at < found.length; at++) {
        if (found[at]!.outcome === 'failed') failed -= 1
        found[at] = { ...found[at]!, outcome: 'skipped' }
      }
    },
    result() {
      let room = MAX_ALL_OUTPUT
      const tests = found.map((test) => {
        const output = shorten(test.output ?? '', Math.min(MAX_OUTPUT, room))
        room -= output.length
        return {
          path: pathOf(test.path()),
          outcome: test.outcome,
          message: oneLine(test.message ?? '', MAX_MESSAGE) || null,
          file: oneLine(test.file ?? '', MAX_FILE) || null,
          line: isLine(test.line) ? test.line : null,
          output,
        }
      })
      return { tests, omitted }
    },
  }
}

/** Deeper suites are joined into the last name. */
function pathOf(path: readonly string[]): string[] {
  const names = path.map((name) => oneLine(name, MAX_NAME)).filter((name) => name !== '')
  if (names.length === 0) return ['unnamed test']
  if (names.length <= MAX_DEPTH) return names
  const rest = names.slice(MAX_DEPTH - 1).slice(-MAX_DEPTH)
  return [...names.slice(0, MAX_DEPTH - 1), oneLine(rest.join(' > '), MAX_NAME)]
}

function isLine(line: number | null | undefined): line is number {
  return typeof line === 'number' && Number.isSafeInteger(line) && line > 0
}
