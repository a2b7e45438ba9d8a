import { type Failure, failedTests, firstOf } from './failures.ts'
import { findLocation } from './locations.ts'
import type { TestSink } from './reported-tests.ts'
import type { TestResults } from './test-results.ts'

/** The fields used of a `go test -json` event. */
interface GoEvent {
  action: string
  /** Empty for build events. */
  package: string
  /** Empty for the package as a whole. */
  test: string
  output: string
  /** The import path of a build event, or of the build that failed the package. */
  build: string
}

type End = 'pass' | 'fail' | 'skip'

interface GoTest {
  end: End | null
  /** The result in its output, which counts if there is no event. */
  said: End | null
  output: string
}

interface GoPackage {
  tests: Map<string, GoTest>
  end: End | null
  output: string
  build: string
}

const ACTIONS: ReadonlySet<string> = new Set([
  'start',
  'run',
  'pause',
  'cont',
  'pass',
  'bench',
  'fail',
  'output',
  'skip',
  'attr',
  'artifacts',
  'build-output',
  'build-fail',
])

/** A test may print megabytes; its message is near the beginning. */
const MAX_OUTPUT = 16 * 1024

const EVENT_LINE = /^\{[^\r\n\u2028\u2029]*"Action"[ \t]*:[ \t]*"/m
/** Before Go 1.20, a failed build was plain text instead of an event. */
const PLAIN_FAILURE = /^FAIL\t(\S+)(?: \[((?:build|setup) failed)\]|\t[\d.]+m?s)\s*$/
/** The result of a test, which has no event of its own behind output that does not end its line. */
const RESULT = /--- (PASS|FAIL|SKIP): (\S+) \(/

/** The offset at which `go test -json` events seem to begin; -1 if there are none. */
export function findGoTest(text: string): number {
  return text.search(EVENT_LINE)
}

/**
 * Counts the tests in `go test -json` events; other lines may be mixed in. A test with subtests counts only if it
 * failed although none of them did. A package that failed without a failed test (build error, panic, exit) counts
 * as one failed test, and so does an unfinished test in a failed package. In another package, a test without a result
 * makes the report incomplete. Null if there is no event.
 */
export function readGoTest(text: string, sink?: TestSink): TestResults | null {
  const { events, plainFailures } = readEvents(text)
  if (events.length === 0) return null
  const { packages, builds, brokenBuilds } = gather(events)
  let complete = packages.size > 0
  for (const build of brokenBuilds) {
    complete &&= [...packages.values()].some((each) => each.end === 'fail' && each.build === build)
  }
  for (const [name, why] of plainFailures) {
    const known = packages.get(name) ?? newPackage()
    packages.set(name, { ...known, end: 'fail', output: known.output || why })
  }
  const counts = { passed: 0, failed: 0, skipped: 0 }
  let failures: Failure[] = []
  const fail = (failure: Failure, output: string) => {
    counts.failed += 1
    sink?.add({ ...failure, path: () => failure.path, outcome: 'failed', output })
    failures = firstOf(failures, [failure])
  }
  for (const [name, found] of packages) {
    complete &&= found.end !== null
    const before = counts.failed
    const parents = parentsOf(found.tests)
    for (const [test, { end, output }] of found.tests) {
      const result = end ?? (isUnfinished(test, found) ? 'fail' : null)
      if (result === 'fail') {
        if (!hasFailed(parents.get(test), found))
          fail(describe(name, test, output, found.output), output)
        continue
      }
      complete &&= result !== null || test.startsWith('Benchmark')
      if (parents.has(test) || result === null) continue
      const outcome = result === 'pass' ? 'passed' : 'skipped'
      counts[outcome] += 1
      sink?.add({ path: () => [name, ...test.split('/')], outcome })
    }
    if (found.end === 'fail' && counts.failed === before) {
      const build = builds.get(found.build) ?? ''
      fail(describePackage(name, build, found), build || found.output)
    }
  }
  const { passed, failed, skipped } = counts
  const ok = complete && failed === 0
  return { run: passed + failed, passed, failed, skipped, ok, failures: failedTests(failures) }
}

function readEvents(text: string): { events: GoEvent[]; plainFailures: Map<string, string> } {
  const events: GoEvent[] = []
  const plainFailures = new Map<string, string>()
  for (const line of text.split('\n')) {
    const event = line.startsWith('{') ? readEvent(line) : null
    if (event) events.push(event)
    const plain = line.startsWith('FAIL') ? PLAIN_FAILURE.exec(line) : null
    if (plain) plainFailures.set(plain[1]!, plain[2] ?? '')
  }
  return { events, plainFailures }
}

/** Null for any other line, including JSON that a program logs. */
function readEvent(line: string): GoEvent | null {
  let value: Record<string, unknown>
  try {
    value = JSON.parse(line)
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
  const text = (key: string) => (typeof value[key] === 'string' ? value[key] : '')
  const action = text('Action')
  const event = {
    action,
    package: text('Package'),
    test: text('Test'),
    output: text('Output'),
    build: text('FailedBuild') || text('ImportPath'),
  }
  return ACTIONS.has(action) && (event.package !== '' || event.build !== '') ? event : null
}

function gather(events: readonly GoEvent[]) {
  const packages = new Map<string, GoPackage>()
  const builds = new Map<string, string>()
  const brokenBuilds = new Set<string>()
  for (const event of events) {
    if (event.package === '') {
      const before = builds.get(event.build) ?? ''
      builds.set(event.build, begun(before, event.output))
      if (event.action === 'build-fail') brokenBuilds.add(event.build)
      continue
    }
    const found = packages.get(event.package) ?? newPackage()
    packages.set(event.package, found)
    found.build = event.build || found.build
    if (event.test !== '') addTestEvent(found.tests, event)
    else if (event.action === 'output') found.output = begun(found.output, event.output)
    else if (isEnd(event.action)) found.end = worse(found.end, event.action)
  }
  for (const { tests } of packages.values()) {
    for (const found of tests.values()) found.end ??= found.said
  }
  return { packages, builds, brokenBuilds }
}

function newPackage(): GoPackage {
  return { tests: new Map(), end: null, output: '', build: '' }
}

/** A test that runs several times (`-count`) is one test, which failed if it failed once. */
function addTestEvent(tests: Map<string, GoTest>, { action, test, output }: GoEvent): void {
  const found = tests.get(test) ?? { end: null, said: null, output: '' }
  tests.set(test, found)
  if (action === 'output') {
    found.output = begun(found.output, output)
    const [, result, name] = RESULT.exec(output) ?? []
    if (name === test) found.said = worse(found.said, result!.toLowerCase() as End)
  } else if (isEnd(action)) found.end = worse(found.end, action)
}

function isEnd(action: string): action is End {
  return action === 'pass' || action === 'fail' || action === 'skip'
}

function worse(before: End | null, end: End): End {
  return before === 'fail' ? 'fail' : end
}

function begun(before: string, more: string): string {
  return before.length >= MAX_OUTPUT ? before : before + more
}

/** The subtests of each test that has some. */
function parentsOf(tests: ReadonlyMap<string, GoTest>): Map<string, string[]> {
  const parents = new Map<string, string[]>()
  for (const test of tests.keys()) {
    // a name may contain slashes: the longest prefix that is a test is the parent
    for (let at = test.lastIndexOf('/'); at > 0; at = test.lastIndexOf('/', at - 1)) {
      const parent = test.slice(0, at)
      if (!tests.has(parent)) continue
      const children = parents.get(parent) ?? []
      children.push(test)
      parents.set(parent, children)
      break
    }
  }
  return parents
}

/** Whether one of these tests failed. A failed subtest also fails its parent. */
function hasFailed(tests: readonly string[] | undefined, found: GoPackage): boolean {
  return (tests ?? []).some((test) => {
    const end = found.tests.get(test)!.end
    return end === 'fail' || (end === null && isUnfinished(test, found))
  })
}

/** Benchmarks report no end. */
function isUnfinished(test: string, { end }: GoPackage): boolean {
  return end === 'fail' && !test.startsWith('Benchmark')
}

/** Lines that `go test` prints around a test's output. */
const FRAME = /^\s*(?:=== (?:RUN|PAUSE|CONT|NAME)|--- (?:FAIL|PASS|SKIP|BENCH):|(?:FAIL|PASS|ok)\b)/
const LOG_LINE = /^\s+(\S+\.go):(\d{1,9}): ?(.*)$/

function describe(name: string, test: string, output: string, ofPackage: string): Failure {
  const path = [name, ...test.split('/')]
  const lines = output.split('\n').filter((line) => !FRAME.test(line))
  const at = lines.findIndex((line) => LOG_LINE.test(line))
  const panic = lines.findIndex((line) => /^panic: |^fatal error: /.test(line))
  if (panic >= 0) return { path, ...panicIn(lines.slice(panic)) }
  if (at < 0) {
    const said = lines.join('\n').trim() || panicLine(ofPackage)
    return { path, message: said, file: null, line: null }
  }
  const [, file, line, first] = LOG_LINE.exec(lines[at]!)!
  const message = [first!, ...lines.slice(at + 1)].join('\n').trim()
  return { path, message, file: file!, line: Number(line) }
}

function panicIn(lines: readonly string[]): Omit<Failure, 'path'> {
  const stack = lines.findIndex((line) => line.startsWith('goroutine '))
  const message = lines.slice(0, stack < 0 ? lines.length : stack).join('\n')
  const place = stack < 0 ? null : findLocation(lines.slice(stack).join('\n'))
  return { message, file: place?.file ?? null, line: place?.line ?? null }
}

function panicLine(output: string): string | null {
  return /^(?:panic|fatal error): .*/m.exec(output)?.[0] ?? null
}

/** Describes a package that failed without a failed test. */
function describePackage(name: string, build: string, found: GoPackage): Failure {
  const lines = (build || found.output).split('\n')
  const panic = lines.findIndex((line) => /^panic: |^fatal error: /.test(line))
  if (panic >= 0) return { path: [name], ...panicIn(lines.slice(panic)) }
  const useful = lines.filter((line) => !FRAME.test(line) && !/^(?:# |exit status)/.test(line))
  const said = useful.join('\n').trim()
  const place = findLocation(said)
  const frame = /\[((?:build|setup) failed)\]/.exec(found.output)?.[1]
  const what = build !== '' ? 'build failed' : (frame ?? null)
  const message = [what, said === what ? null : said].filter(Boolean).join(': ')
  return {
    path: [name],
    message: message || found.output.trim() || 'the package failed',
    file: place?.file ?? null,
    line: place?.line ?? null,
  }
}
