import { XMLValidator } from 'fast-xml-parser'
import { MAX_FAILED_TESTS } from '../../model/failed-test.ts'
import { type Failure, failedTests, firstOf, testName } from './failures.ts'
import { contradictsTotals } from './junit-totals.ts'
import { findLocation } from './locations.ts'
import type { TestOutcome, TestSink } from './reported-tests.ts'
import type { TestResults } from './test-results.ts'
import { attribute, attributeNames, decode, element, parseXml, type XmlNode } from './xml-node.ts'

interface Outcome {
  outcome: TestOutcome
  path: readonly string[]
  failure?: Failure | undefined
  output?: string
  /** Of a failing todo test. */
  isTodo?: boolean
  /** How many runs of it failed before it passed. */
  retries?: number
}

/** The offset at which JUnit XML seems to begin; -1 if there is none. */
export function findJunit(text: string): number {
  return text.search(/<(?:[\w.-]+:)?testsuites?[\s/>]/)
}

/**
 * Counts the test cases in JUnit XML, at any depth: one report or several concatenated files, with other output
 * around them. An error counts as a failure, also of a test that was skipped too. A test that passed on a retry passed.
 * A report whose own totals contradict the count is incomplete. Document types are not read and entities not expanded.
 * Null if there is no report.
 */
export function readJunit(text: string, sink?: TestSink): TestResults | null {
  let seen = false
  let complete = true
  const counts = { passed: 0, flaky: 0, failed: 0, skipped: 0 }
  let failures: Failure[] = []
  const flakyNames: string[] = []
  for (const report of reportsIn(text)) {
    seen = true
    const nodes = parseXml(report)
    complete &&= nodes.length > 0 && XMLValidator.validate(report) === true
    const explained = { failures: 0 }
    for (const { outcome, path, failure, output, isTodo, retries = 0 } of outcomes(nodes, [])) {
      counts[outcome] += 1
      if (outcome === 'failed') failures = firstOf(failures, [failure!])
      if (outcome === 'flaky' && flakyNames.length < MAX_FAILED_TESTS)
        flakyNames.push(testName(path))
      explained.failures += retries + (isTodo || outcome === 'failed' ? 1 : 0)
      sink?.add({ ...failure, path: () => path, outcome, output })
    }
    complete &&=
      counts.failed > 0 ||
      !(
        contradictsTotals(nodes, explained.failures) ||
        NODE_FAILED.test(report.slice(report.lastIndexOf('testcase')))
      )
  }
  if (!seen) return null
  const { flaky, failed, skipped } = counts
  const passed = counts.passed + flaky
  const ok = complete && failed === 0
  const results = { run: passed + failed, passed, failed, skipped, ok }
  const named = { ...results, failures: failedTests(failures) }
  return flaky === 0 ? named : { ...named, flaky: { count: flaky, names: flakyNames } }
}

/** Node's reporter states its totals in comments behind the last test. */
const NODE_FAILED = /<!-- (?:fail|cancelled) [1-9]\d{0,8} -->/

/** Matches what begins or ends a report. Tags in character data or comments do not count. */
const PARTS =
  /<!\[CDATA\[[\s\S]*?\]\]>|<!--[\s\S]*?-->|<\?xml\s|<(\/?)(?:[\w.-]+:)?testsuites?(?=[\s/>])(?:[^"'>]|"[^"]*"|'[^']*')*>/g

/**
 * Yields each report from its root element on, so that no prolog with a document type is parsed. A truncated report
 * ends where the next file begins, or with the text.
 */
function* reportsIn(text: string): Generator<string> {
  let start = -1
  let depth = 0
  for (const match of text.matchAll(PARTS)) {
    const [part, slash] = match
    if (part.startsWith('<?xml')) {
      if (depth > 0) yield text.slice(start, match.index)
      depth = 0
    } else if (slash !== undefined) {
      const isClosing = slash === '/'
      if (depth === 0 && isClosing) continue
      if (depth === 0) start = match.index
      if (!part.endsWith('/>')) depth += isClosing ? -1 : 1
      if (depth === 0) yield text.slice(start, match.index + part.length)
    }
  }
  if (depth > 0) yield text.slice(start)
}

/** `suites` are the names of the enclosing suites. */
function* outcomes(
  nodes: XmlNode[],
  suites: readonly string[],
  suite?: XmlNode,
): Generator<Outcome> {
  const retried = suite ? retriesIn(nodes, suite) : NONE_RETRIED
  for (const node of nodes) {
    const [tag, children] = element(node)
    if (tag === 'testcase') {
      const runs = retried.get(node)
      if (runs !== 'again') yield caseOutcome(node, children, suites, runs)
    } else if (tag === 'failure' || tag === 'error') {
      yield failed(describe([...suites], null, null, node), node)
    } else if (tag === 'testsuite') {
      yield* outcomes(children, [...suites, attribute(node, 'name') ?? ''], node)
    } else if (!WITHOUT_TESTS.has(tag)) yield* outcomes(children, suites)
  }
}

const WITHOUT_TESTS: ReadonlySet<string> = new Set(['system-out', 'system-err', 'properties'])

/** How often a test failed in test cases before this one; `again` for those before it. */
type Retries = ReadonlyMap<XmlNode, number | 'again'>

const NONE_RETRIED: Retries = new Map()

/**
 * Gradle's retry plugin writes each run of a test as a test case of its own, and the last one counts. Elsewhere two
 * tests may have one name. So this reads only suites in Gradle's form: a Java class, with no attribute that Gradle does
 * not write; or, if the suite has a display name, with all of them in their order.
 */
function retriesIn(nodes: readonly XmlNode[], suite: XmlNode): Retries {
  const suiteName = attribute(suite, 'name') ?? ''
  const names = attributeNames(suite)
  if (!names.every((name) => GRADLE_SUITE.has(name))) return NONE_RETRIED
  const isDisplayed = names.join() === [...GRADLE_SUITE].join()
  const last = new Map<string, { node: XmlNode; failures: number }>()
  const retried = new Map<XmlNode, number | 'again'>()
  for (const node of nodes) {
    const [tag, children] = element(node)
    const classname = attribute(node, 'classname') ?? ''
    if (tag !== 'testcase' || !JAVA_CLASS.test(classname)) continue
    if (classname !== suiteName && !(isDisplayed && classname.includes('.'))) continue
    if (attributeNames(node).some((name) => !GRADLE_CASE.has(name))) continue
    const name = `${classname} ${attribute(node, 'name') ?? ''}`
    const before = last.get(name)
    const has = (tags: RegExp) => children.some((child) => tags.test(element(child)[0]))
    // only a run that failed is repeated
    if (before && before.failures > 0 && !has(/^skipped$/)) {
      retried.set(before.node, 'again')
      retried.set(node, before.failures)
    }
    const hasFailed = has(/^(?:failure|error)$/)
    last.set(name, { node, failures: hasFailed ? (before?.failures ?? 0) + 1 : 0 })
  }
  return retried
}

const JAVA_CLASS = /^(?:[\w$]+\.)*[A-Z][\w$]*$/
const GRADLE_CASE: ReadonlySet<string> = new Set(['name', 'classname', 'time'])
const GRADLE_SUITE: ReadonlySet<string> = new Set([
  'name',
  'tests',
  'skipped',
  'failures',
  'errors',
  'timestamp',
  'hostname',
  'time',
])

const FAILED = /^(?:fail(?:ed|ure)?|error(?:ed)?|broken|time(?:d ?|-?)out|crash(?:ed)?|aborted)$/i

/** `runs` is how often the test failed in test cases before this one. */
function caseOutcome(
  node: XmlNode,
  children: XmlNode[],
  suites: readonly string[],
  runs = 0,
): Outcome {
  const status = attribute(node, 'status')
  const child = (...tags: string[]) => children.find((each) => tags.includes(element(each)[0]))
  const path = pathOf(node, suites)
  const skipped = child('skipped')
  const failure = child('failure', 'error')
  const message = attribute(node, 'failure') ?? attribute(node, 'error')
  const hasFailed =
    failure !== undefined ||
    message !== null ||
    [status, attribute(node, 'result')].some((each) => FAILED.test(each ?? '')) ||
    attribute(node, 'success') === 'false'
  // Node's reporter writes a failing todo test so, and it does not count as failed
  const isTodo =
    skipped !== undefined &&
    attribute(skipped, 'type') === 'todo' &&
    attribute(node, 'failure') !== null &&
    child('error') === undefined
  if (hasFailed && !isTodo) return failed(describe(path, node, message, failure), failure)
  const isSkipped = skipped !== undefined || isTrue(attribute(node, 'skipped'))
  if (isSkipped || /^(?:notrun|disabled|skipped|ignored)$/i.test(status ?? ''))
    return { outcome: 'skipped', path, isTodo: hasFailed }
  const flaky = children.filter((each) => /^flaky(?:Failure|Error)$/.test(element(each)[0]))
  const retries = runs + flaky.length
  if (retries > 0) {
    const [first] = flaky
    const why = first ? describe(path, node, null, first) : undefined
    return { outcome: 'flaky', path, failure: why, retries }
  }
  const rerun = child('rerunFailure', 'rerunError')
  return rerun ? failed(describe(path, node, null, rerun), rerun) : { outcome: 'passed', path }
}

function isTrue(value: string | null): boolean {
  return value !== null && !/^(?:false|0|no)$/i.test(value)
}

function failed(failure: Failure, node: XmlNode | undefined): Outcome {
  const output = node ? textIn(element(node)[1]).trim() : ''
  return { outcome: 'failed', path: failure.path, failure, output }
}

/** Uses the class as a parent if it adds something to the suite; Node's reporter calls every class `test`. */
function pathOf(node: XmlNode, suites: readonly string[]): string[] {
  const name = attribute(node, 'name') ?? ''
  const group = attribute(node, 'classname') ?? ''
  const isNew = group !== '' && group !== 'test' && group !== name && group !== suites.at(-1)
  return isNew ? [...suites, group, name] : [...suites, name]
}

function describe(
  path: string[],
  test: XmlNode | null,
  said: string | null,
  failed: XmlNode | undefined,
): Failure {
  const text = failed ? textIn(element(failed)[1]) : ''
  const type = failed ? attribute(failed, 'type') : null
  const message = (failed && attribute(failed, 'message')) ?? said
  const stated = (name: string) =>
    (failed && attribute(failed, name)) ?? (test && attribute(test, name))
  const file = stated('file')
  const line = stated('line')
  const wanted = file ?? fileOfClass(test)
  const found =
    findLocation(causeIn(text), wanted) ??
    findLocation(text, wanted) ??
    (file === null ? (findLocation(causeIn(text)) ?? findLocation(text)) : null)
  return {
    path,
    message: message || beforeStack(text) || type || null,
    file: file ?? found?.file ?? null,
    // the failed assertion is a better location than the first line of the test
    line: found?.line ?? (line !== null && /^\d{1,9}$/.test(line) ? Number(line) : null),
  }
}

/** A message for a failure that has none: the text before its stack trace. */
function beforeStack(text: string): string {
  return text
    .trim()
    .split(/\n[^\S\n]+at /, 1)[0]!
    .trimEnd()
}

/** Node prints its runner's error first, followed by the error that the test threw. */
function causeIn(text: string): string {
  return text.slice(text.lastIndexOf('\n  cause: ') + 1)
}

/**
 * The file name stem of a class: the class `com.example.LoginTest` is in `LoginTest.java` or `LoginTest.kt`. A
 * stack trace also lists other files.
 */
function fileOfClass(test: XmlNode | null): string | null {
  const name = (test && attribute(test, 'classname')) ?? ''
  const last = /^(?:[\w$]+\.)+([A-Z]\w*)/.exec(name)?.[1]
  return last === undefined ? null : `${last}.java`
}

function textIn(children: readonly XmlNode[]): string {
  return children
    .map((child) => child['#text'])
    .filter((text) => typeof text === 'string')
    .map(decode)
    .join('')
}
