import { isDiff } from '../model/proof-type.ts'

/** Judges a text once if it is asked about it again at once: 10 MiB take some 100 ms. */
function ofLast<T>(judge: (text: string) => T): (text: string) => T {
  let last: { text: string; value: T } | null = null
  return (text) => {
    if (last?.text !== text) last = { text, value: judge(text) }
    return last.value
  }
}

/**
 * Whether a text looks like a test report: TAP, JUnit XML or `go test -json`. Fast but with false positives, which
 * counting the tests resolves. A diff is no report, even of a file with one. Never false for another text that the
 * report readers recognize.
 */
export const looksLikeReport = ofLast(
  (text) => (TAP.test(text) || JUNIT.test(text) || GO.test(text)) && !isDiff(text),
)

const TAP =
  /^\uFEFF?[ \t]*(?:TAP version 1|1\.\.\d|Bail out!|(?:not )?ok \d|not ok(?=[ \t\r\n]|$))/m
const JUNIT = /<(?:[\w.-]+:)?testsuites?[\s/>]/
const GO = /^\uFEFF?\{[^\r\n\u2028\u2029]*"Action"[ \t]*:[ \t]*"/m

/** Reports that Casefile does not read, by their root element. */
const UNREAD_XML: Record<string, string> = {
  'test-run': 'NUnit 3 XML',
  'test-results': 'NUnit 2 XML',
  TestRun: 'TRX',
  assemblies: 'xUnit.net XML',
  assembly: 'xUnit.net XML',
  'testng-results': 'TestNG XML',
  Testing: 'CTest XML',
  TestLog: 'Boost.Test XML',
  TestResult: 'Boost.Test XML',
  Catch2TestRun: 'Catch2 XML',
  Catch: 'Catch2 XML',
  doctest: 'doctest XML',
  robot: 'Robot Framework XML',
  testExecutions: 'SonarQube XML',
  testResults: 'JMeter XML',
}
const ROOT = new RegExp(
  `^\\uFEFF?[ \\t]*(?:<\\?xml[^>\\n]{0,300}\\?>[ \\t]*)?<(?:[\\w.-]+:)?(${Object.keys(UNREAD_XML).join('|')})[\\s/>]`,
  'm',
)

/** Reports that Casefile does not read, by keys of theirs. */
const UNREAD_JSON: [name: string, ...keys: string[]][] = [
  ['Jest JSON', 'numTotalTests', 'testResults'],
  ['Playwright JSON', 'suites', 'stats', 'unexpected'],
  ['Mocha JSON', 'stats', 'passes', 'failures'],
  ['Cucumber JSON', 'elements', 'keyword', 'steps'],
  ['Cucumber messages', 'testStepFinished'],
  ['pytest JSON', 'nodeid', 'outcome'],
  ['RSpec JSON', 'examples', 'summary_line'],
  ['cargo test JSON', 'type', 'event', 'test_count'],
  ['Dart test JSON', 'testID', 'result'],
  ['CTRF JSON', 'results', 'tool', 'summary', 'tests'],
]
const JSON_START = /^\uFEFF?[ \t]*(?:\{|\[\s{0,9}\{)/m

/** The name of the test report that a text seems to be, if it is one that Casefile does not read; otherwise null. */
export const unreadReport = ofLast((text): string | null => {
  if (isDiff(text)) return null
  const element = ROOT.exec(text)?.[1]
  if (element !== undefined) return UNREAD_XML[element]!
  if (/^##teamcity\[test/m.test(text)) return 'TeamCity messages'
  if (!JSON_START.test(text)) return null
  const has = (key: string) => new RegExp(`"${key}"\\s*:`).test(text)
  return UNREAD_JSON.find(([, ...keys]) => keys.every(has))?.[0] ?? null
})
