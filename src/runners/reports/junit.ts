import { XMLParser, XMLValidator } from 'fast-xml-parser'
import { type Failure, failedTests, firstOf } from './failures.ts'
import { findLocation } from './locations.ts'
import type { TestSink } from './reported-tests.ts'
import type { TestResults } from './test-results.ts'

interface Outcome {
  outcome: 'passed' | 'skipped' | 'failed'
  path: readonly string[]
  failure?: Failure
  output?: string
}

/** fast-xml-parser's ordered form: the key that is a tag name has the children as its value. */
type XmlNode = Record<string, unknown>

/** The offset at which JUnit XML seems to begin; -1 if there is none. */
export function findJunit(text: string): number {
  return text.search(/<(?:[\w.-]+:)?testsuites?[\s/>]/)
}

/**
 * Counts the test cases in JUnit XML, at any depth: one report or several concatenated files, with other output
 * around them. An error counts as a failure. Document types are not read and entities not expanded. Null if there
 * is no report. The format cannot say that a parent failed although its cases passed (Node's reporter, for an error
 * after the last subtest); only the exit code shows that.
 */
export function readJunit(text: string, sink?: TestSink): TestResults | null {
  let seen = false
  let complete = true
  const counts = { passed: 0, failed: 0, skipped: 0 }
  let failures: Failure[] = []
  for (const report of reportsIn(text)) {
    seen = true
    const nodes = parse(report)
    const before = counts.failed + counts.skipped
    complete &&= XMLValidator.validate(report) === true
    for (const { outcome, path, failure, output } of outcomes(nodes, [])) {
      counts[outcome] += 1
      if (failure) failures = firstOf(failures, [failure])
      sink?.add({ ...failure, path: () => path, outcome, output })
    }
    // a failing todo test is among the skipped ones
    complete &&= statedFailures(nodes) <= counts.failed + counts.skipped - before
  }
  if (!seen) return null
  const { passed, failed, skipped } = counts
  const ok = complete && failed === 0
  return { run: passed + failed, passed, failed, skipped, ok, failures: failedTests(failures) }
}

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

/** Empty for text that ends inside a tag, which is reported as incomplete anyway. */
function parse(report: string): XmlNode[] {
  const parser = new XMLParser({
    preserveOrder: true,
    ignoreAttributes: false,
    parseTagValue: false,
    parseAttributeValue: false,
    processEntities: false,
    removeNSPrefix: true,
  })
  try {
    return parser.parse(report)
  } catch {
    // the parser throws plain errors without a code, and only for bad input
    return []
  }
}

/** The number of failures and errors that the outermost suites declare. */
function statedFailures(nodes: readonly XmlNode[]): number {
  let stated = 0
  for (const node of nodes) {
    const [tag, children] = element(node)
    if (tag !== 'testsuite' && tag !== 'testsuites') continue
    const own = ['failures', 'errors'].map((name) => Number(attribute(node, name) ?? 0) || 0)
    const sum = own.reduce((total, count) => total + count, 0)
    stated += tag === 'testsuites' ? Math.max(sum, statedFailures(children)) : sum
  }
  return stated
}

/** `suites` are the names of the enclosing suites. */
function* outcomes(nodes: XmlNode[], suites: readonly string[]): Generator<Outcome> {
  for (const node of nodes) {
    const [tag, children] = element(node)
    if (tag === 'testcase') yield caseOutcome(node, children, suites)
    else if (tag === 'failure' || tag === 'error') {
      yield failed(describe([...suites], null, null, node), node)
    } else if (tag === 'testsuite') {
      yield* outcomes(children, [...suites, attribute(node, 'name') ?? ''])
    } else if (tag === 'testsuites') yield* outcomes(children, suites)
  }
}

/** Skipped is checked first: Node reports a failing todo test as both, and it does not count as failed. */
function caseOutcome(node: XmlNode, children: XmlNode[], suites: readonly string[]): Outcome {
  const status = attribute(node, 'status')
  const child = (...tags: string[]) => children.find((each) => tags.includes(element(each)[0]))
  const isSkipped = child('skipped') !== undefined || attribute(node, 'skipped') !== null
  const path = pathOf(node, suites)
  if (isSkipped || status === 'notrun' || status === 'disabled') return { outcome: 'skipped', path }
  const failure = child('failure', 'error')
  const message = attribute(node, 'failure') ?? attribute(node, 'error')
  if (!failure && message === null && !/^(?:failed|failure|error)$/i.test(status ?? ''))
    return { outcome: 'passed', path }
  return failed(describe(path, node, message, failure), failure)
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
  return text.trim().split(/\n\s+at /, 1)[0]!
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

function element(node: XmlNode): [tag: string, children: XmlNode[]] {
  const tag = Object.keys(node).find((key) => key !== ':@') ?? ''
  const children = node[tag]
  return [tag, Array.isArray(children) ? children : []]
}

/** Also `''` for an attribute without a value. */
function attribute(node: XmlNode, name: string): string | null {
  const attributes = (node[':@'] ?? {}) as Record<string, unknown>
  const value = Object.hasOwn(attributes, `@_${name}`) ? attributes[`@_${name}`] : undefined
  return value === undefined ? null : decode(String(value))
}

function textIn(children: readonly XmlNode[]): string {
  return children
    .map((child) => child['#text'])
    .filter((text) => typeof text === 'string')
    .map(decode)
    .join('')
}

const ENTITIES: ReadonlyMap<string, string> = new Map([
  ['lt', '<'],
  ['gt', '>'],
  ['amp', '&'],
  ['quot', '"'],
  ['apos', "'"],
])

/**
 * Decodes XML's five predefined entities and numeric characters. Entities that a document declares stay as they
 * are.
 */
function decode(text: string): string {
  return text.replace(
    /&(?:#(\d{1,7})|#x([\da-fA-F]{1,6})|(\w{2,4}));/g,
    (whole, dec, hex, name) => {
      if (name !== undefined) return ENTITIES.get(name) ?? whole
      const code = dec === undefined ? Number.parseInt(hex, 16) : Number(dec)
      return code <= 0x10ffff ? String.fromCodePoint(code) : whole
    },
  )
}
