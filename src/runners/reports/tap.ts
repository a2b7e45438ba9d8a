import { type FinalResults, Parser, type Result } from 'tap-parser'
import { type Failure, failedTests, firstOf } from './failures.ts'
import type { TestSink } from './reported-tests.ts'
import { detailsOf, failureOf } from './tap-diagnostics.ts'
import type { TestResults } from './test-results.ts'

/** Deeper than anyone nests tests by hand. The parser's time grows with the square of the depth. */
const MAX_DEPTH = 100
const TOO_DEEP = new RegExp(`^ {${4 * MAX_DEPTH},}(?:# Subtest|(?:not )?ok\\b|1\\.\\.)`, 'm')

/** Requires a number after `ok`, unlike prose and the package lines of `go test`. */
const MARKS =
  /^(?:TAP version 1[34]|1\.\.\d+| *(?:not )?ok \d+|not ok|Bail out!|# Subtest:)(?=\s|$)/m

/** The offset at which a TAP report seems to begin; -1 if there is none. */
export function findTap(text: string): number {
  return text.search(MARKS)
}

/** Why a report cannot be read; null if it can. */
export function tapObstacle(text: string): string | null {
  return TOO_DEEP.test(text) ? `the report nests its tests more than ${MAX_DEPTH} deep` : null
}

/**
 * Counts the leaf tests of a TAP report. Other lines may be mixed in, and several reports may follow each other. A
 * test that failed although all of its subtests passed (an error after them) is a failed test; a test without
 * subtests is a test. Null if there is no TAP: no plan, no test point and no bail out.
 */
export function readTap(text: string, sink?: TestSink): TestResults | null {
  const documents = tapDocuments(text).map((document) => readDocument(document, sink))
  const found = documents.filter((document) => document !== null)
  return found.length === 0 ? null : resultsOf(found)
}

interface TapDocument {
  level: Level
  complete: boolean
}

function resultsOf(documents: readonly TapDocument[]): TestResults {
  const { passed, failed, skipped, failures } = documents
    .map(({ level }) => level)
    .reduce((total, level) => sum(total, level), nothing())
  const ok = failed === 0 && documents.every(({ complete }) => complete)
  return { run: passed + failed, passed, failed, skipped, ok, failures: failedTests(failures) }
}

function readDocument(text: string, sink?: TestSink): TapDocument | null {
  const parser = new Parser()
  const level = watch(parser, null, sink)
  parser.end(text)
  const { counts, planned, broken } = level()
  const bailedOut = parser.bailedOut !== false
  const seen = counts.passed + counts.failed + counts.skipped > 0 || planned || bailedOut
  return seen ? { level: counts, complete: planned && !broken && !bailedOut } : null
}

interface Level {
  passed: number
  failed: number
  skipped: number
  failures: Failure[]
}

interface Watched {
  counts: Level
  planned: boolean
  /** Not as planned, here or below, or the text ends before the test point that closes a subtest. */
  broken: boolean
}

/** A test with subtests. Its name may be known only when it ends. */
interface Suite {
  name: string
  parent: Suite | null
}

function namesOf(suite: Suite | null, name: string): string[] {
  const names = [name]
  for (let each = suite; each; each = each.parent) names.unshift(each.name)
  return names
}

function watch(parser: Parser, suite: Suite | null, sink?: TestSink): () => Watched {
  let counts = nothing()
  let planned = false
  let broken = false
  let child: { suite: Suite; watched: () => Watched; mark: number } | undefined

  parser.on('plan', () => {
    planned ||= !parser.syntheticPlan
  })
  parser.on('child', (inner: Parser) => {
    const below = { name: inner.name, parent: suite }
    child = { suite: below, watched: watch(inner, below, sink), mark: sink?.mark() ?? 0 }
  })
  parser.on('assert', (point: Result) => {
    const below = point.closingTestPoint ? child?.watched() : undefined
    if (child && below) child.suite.name = point.name || child.suite.name
    if (sink) report(point, below?.counts, suite, { sink, mark: child?.mark ?? 0 })
    counts = sum(counts, pointCounts(point, below?.counts))
    broken ||= below?.broken === true
    if (point.closingTestPoint) child = undefined
  })
  // the parser's own `ok` ignores that a failure below a todo does not count, and that the last plan is missing
  parser.on('complete', ({ failures }: FinalResults) => {
    broken ||= failures.some((failure) => failure.tapError)
  })

  return () => {
    if (!child) return { counts, planned, broken }
    const open = below(child.suite.name, child.watched().counts)
    return { counts: sum(counts, open), planned, broken: true }
  }
}

/** Adds a test to the list, by the rules of `pointCounts`. */
function report(
  point: Result,
  inner: Level | undefined,
  suite: Suite | null,
  { sink, mark }: { sink: TestSink; mark: number },
): void {
  const isSkipped = isSet(point.skip) || isSet(point.todo)
  const leaves = inner === undefined ? 0 : inner.passed + inner.failed + inner.skipped
  const path = () => namesOf(suite, point.name)
  if (leaves > 0) {
    if (isSkipped) sink.skipFrom(mark)
    if (isSkipped || point.ok || inner!.failed > 0) return
  } else if (isSkipped || point.ok) {
    sink.add({ path, outcome: isSkipped ? 'skipped' : 'passed' })
    return
  }
  sink.add({ ...failureOf(point), path, outcome: 'failed', output: detailsOf(point) })
}

function pointCounts(point: Result, inner: Level | undefined): Level {
  const leaves = inner === undefined ? 0 : inner.passed + inner.failed + inner.skipped
  if (isSet(point.skip) || isSet(point.todo)) {
    return { passed: 0, failed: 0, skipped: Math.max(leaves, 1), failures: [] }
  }
  if (inner === undefined || leaves === 0) {
    return point.ok
      ? { passed: 1, failed: 0, skipped: 0, failures: [] }
      : { passed: 0, failed: 1, skipped: 0, failures: [failureOf(point)] }
  }
  const ownFailure = !point.ok && inner.failed === 0
  return ownFailure
    ? { ...inner, failed: 1, failures: [failureOf(point)] }
    : below(point.name, inner)
}

/** The counts of a subtest, with its name added to its failures. */
function below(name: string, inner: Level): Level {
  const failures = inner.failures.map((each) => ({ ...each, path: [name, ...each.path] }))
  return { ...inner, failures }
}

/** A directive without a reason is `true` or an empty string. */
function isSet(directive: string | boolean): boolean {
  return directive !== false
}

function nothing(): Level {
  return { passed: 0, failed: 0, skipped: 0, failures: [] }
}

function sum(a: Level, b: Level): Level {
  return {
    passed: a.passed + b.passed,
    failed: a.failed + b.failed,
    skipped: a.skipped + b.skipped,
    failures: firstOf(a.failures, b.failures),
  }
}

/** Lines with a meaning in TAP, at the margin or one level below. */
const LINES =
  /^(?:(?<version>TAP version 1[34])|1\.\.(?<plan>\d{1,9})|(?<point>(?:not )?ok)(?<number> \d+)?|(?<bail>Bail out!)|(?<below># Subtest: | {4}(?:# Subtest: |(?:not )?ok |1\.\.))|(?<block> +---)|(?<blockEnd> +\.\.\.))(?=\s|$|(?<=[ .]))/gm

/**
 * Splits a text into its TAP reports. The parser reads only one, and ignores everything after a plan at its end. A
 * report continues until it has the planned number of tests.
 */
function tapDocuments(text: string): string[] {
  const documents: string[] = []
  let start = 0
  let planned: number | null = null
  let points = 0
  let isBlock = false
  const cut = (at: number) => {
    documents.push(text.slice(start, at))
    start = at
    planned = null
    points = 0
  }
  for (const match of text.matchAll(LINES)) {
    const { version, plan, point, number, bail, below, block } = match.groups!
    if (isBlock || block) {
      isBlock = match.groups!.blockEnd === undefined
      continue
    }
    const isOver = planned !== null && points >= planned
    const isNext = version ?? bail ?? below ?? number ?? (point === 'not ok' ? point : undefined)
    if (plan === undefined ? isOver && isNext !== undefined : planned !== null) cut(match.index)
    if (plan !== undefined) planned = Number(plan)
    if (point !== undefined) points++
  }
  documents.push(text.slice(start))
  return documents
}
