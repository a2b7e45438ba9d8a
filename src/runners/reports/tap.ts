import { type FinalResults, Parser, type Result } from 'tap-parser'
import { type Failure, failedTests, firstOf } from './failures.ts'
import type { TestSink } from './reported-tests.ts'
import { detailsOf, failureOf } from './tap-diagnostics.ts'
import type { TestResults } from './test-results.ts'

/** Deeper than anyone nests tests by hand. The parser's time grows with the square of the depth. */
const MAX_DEPTH = 100
const TOO_DEEP = new RegExp(`^ {${4 * MAX_DEPTH},}(?:# Subtest|(?:not )?ok\\b|1\\.\\.)`, 'm')

/** What prose does not say: a version, a plan, a failed test, the frame of a subtest. */
const MARKS =
  /^(?:TAP version 1[34]\b|1\.\.\d+[ \t]*(?:#.*)?\r?$|not ok(?=\s|$)| *not ok \d+(?=\s|$)|Bail out!|# Subtest:)/m
/** A numbered test point. Prose may begin a line so, such as "ok 4 tests". */
const NUMBERED = /^( *)ok (\d{1,9})(?= *\r?$| +[-#]| (?=(.)))/gm

/** The offset at which a TAP report seems to begin; -1 if there is none. */
export function findTap(text: string): number {
  const mark = text.search(MARKS)
  let last = { at: -1, indent: '', number: -1 }
  for (const { index: at, 1: indent = '', 2: digits, 3: prose } of text.matchAll(NUMBERED)) {
    if (mark >= 0 && mark < at) return mark
    if (mark >= 0 || prose === undefined) return at
    const number = Number(digits)
    if (last.indent === indent && last.number + 1 === number) return last.at
    last = { at, indent, number }
  }
  return mark
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
  const lines = withPlainTitles(withoutVerdicts(text.replaceAll('\r\n', '\n')))
  const documents = tapDocuments(lines).map((document) => readDocument(document, sink))
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
  const { counts, planned, broken, points } = level()
  const bailedOut = parser.bailedOut !== false
  const seen = counts.passed + counts.failed + counts.skipped > 0 || planned || bailedOut
  const complete = planned && !broken && !bailedOut && !contradictsSummary(text, counts, points)
  return seen ? { level: counts, complete } : null
}

interface Level {
  passed: number
  failed: number
  skipped: number
  failures: Failure[]
}

/** All test points, also those that only close a subtest. */
interface Points {
  all: number
  /** Passed, at the margin. */
  passed: number
  /** Failing todo tests without diagnostics, which may not have run at all. */
  bareTodo: number
}

interface Watched {
  counts: Level
  points: Points
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
  const points = { all: 0, passed: 0, bareTodo: 0 }
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
    points.all += 1 + (below?.points.all ?? 0)
    points.bareTodo += below?.points.bareTodo ?? 0
    if (point.ok && !isSet(point.skip) && !isSet(point.todo)) points.passed += 1
    if (!point.ok && isSet(point.todo) && point.diag === null) points.bareTodo += 1
    if (point.closingTestPoint) child = undefined
  })
  // the parser's own `ok` ignores that a failure below a todo does not count, and that the last plan is missing
  parser.on('complete', ({ failures }: FinalResults) => {
    broken ||= failures.some((failure) => failure.tapError)
  })

  return () => {
    if (!child) return { counts, points, planned, broken }
    const open = below(child.suite.name, child.watched().counts)
    return { counts: sum(counts, open), points, planned, broken: true }
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

/** A test point's line, and the parts of its description that begin with `#`. */
const POINT = /^( *(?:not )?ok\b)([^#\r\n\u2028\u2029]*#.*)$/gm
/**
 * Directives as TAP 14 describes them, but "#skip" without a blank only at the beginning of a title: in the middle it
 * is a word of it.
 */
const FIRST = /^(?: +\d+)?(?: +-)?\s+#(?:skip|todo)[a-z]*[:;,.]*(?:\s|$)/i
const LATER =
  /\s#(?:\s+(?:skip|todo)[a-z]*[:;,.]*(?:\s|$)|\s*(?:time=\S+|duration_ms [\d.]+)\s*\{?$)/i

/** Escapes each `#` that begins no directive, because the parser takes more for one than TAP 14 does. */
function withPlainTitles(text: string): string {
  return text.replace(POINT, (line, start: string, rest: string) => {
    if (FIRST.test(rest)) return line
    const at = rest.search(LATER)
    const title = at < 0 ? rest : rest.slice(0, at)
    return `${start}${title.replace(/(?<=\s)#/g, '\\#')}${rest.slice(title.length)}`
  })
}

/** `prove -v` writes a line "ok" below each file that passed, which is no test point. */
function withoutVerdicts(text: string): string {
  return PROVE.test(text) ? text.replace(/^ok(?: +\d+ m?s\b.*)?$/gm, '') : text
}

const PROVE = /^Result: (?:PASS|FAIL|NOTESTS)$/m

/** The lines with which a runner sums up: node:test, tape, ava, mocha, zora, node-tap, the kernel's tests and prove. */
const SUMMARY =
  /^(?:# (?:(tests|pass|fail|failure|failed|cancelled|suites):? +(\d+)\b|Totals:.* (?:fail|error):[1-9])|Result: (?:FAIL|NOTESTS)$)/gm
/** Test::More's last word is on standard error, so it may stand anywhere in a log. */
const DIED = /^# Looks like (?:you failed \d|your test (?:exited|died))/m

/** Whether the runner's own closing counts contradict the test points, in a report in which none failed. */
function contradictsSummary(text: string, { passed, failed }: Level, points: Points): boolean {
  if (failed > 0) return false
  if (DIED.test(text)) return true
  const last = Math.max(text.lastIndexOf('\nok'), text.lastIndexOf('\nnot ok'), 0)
  const said = new Map<string, number>()
  for (const [, word, count] of text.slice(last).matchAll(SUMMARY))
    said.set(word ?? 'died', Number(count ?? 1))
  const failing = ['fail', 'failure', 'failed', 'cancelled', 'died'].map(
    (each) => said.get(each) ?? 0,
  )
  // ava counts a todo test, which does not run, as failed
  if (failing.reduce((total, count) => total + count, 0) > points.bareTodo) return true
  if ((said.get('tests') ?? 0) > points.all) return true
  // node:test counts parents and top-level tests, and no suite
  const fewest = Math.min(points.passed, passed - (said.get('suites') ?? 0))
  return (said.get('pass') ?? fewest) < fewest
}

/** Lines with a meaning in TAP, at the margin or one level below. */
const LINES =
  /^(?:(?<version>TAP version 1[34])|1\.\.(?<plan>\d{1,9})|(?<point>(?:not )?ok)(?<number> \d+)?|(?<bail>Bail out!)|(?<below># Subtest: | {4}(?:# Subtest: |(?:not )?ok |1\.\.))|(?<block> +---)|(?<blockEnd> +\.\.\.)|(?<close>\}))(?=\s|$|(?<=[ .]))/gm

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
  let isBuffered = false
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
    // a subtest in braces stands below its test point
    if (isBuffered || match.groups!.close) {
      isBuffered &&= match.groups!.close === undefined
      continue
    }
    if (point !== undefined) isBuffered = /\{[ \t]*$/.test(lineAt(text, match.index))
    const isOver = planned !== null && points >= planned
    const isNext = version ?? bail ?? below ?? number ?? (point === 'not ok' ? point : undefined)
    if (plan === undefined ? isOver && isNext !== undefined : planned !== null) cut(match.index)
    if (plan !== undefined) planned = Number(plan)
    if (point !== undefined) points++
  }
  documents.push(text.slice(start))
  return documents
}

function lineAt(text: string, start: number): string {
  const end = text.indexOf('\n', start)
  return text.slice(start, end < 0 ? text.length : end)
}
