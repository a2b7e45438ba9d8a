import t from 'tap'
import { looksLikeReport, unreadReport } from '../../src/markdown/report-shape.ts'

/** The beginnings of reports, as the programs write them. */
const REPORTS: [text: string, name: string | null][] = [
  ['<?xml version="1.0"?>\n<test-run id="2" result="Failed">', 'NUnit 3 XML'],
  ['\uFEFF<?xml version="1.0"?><test-run id="2">', 'NUnit 3 XML'],
  [
    '> dotnet test\n<?xml version="1.0"?>\n<!-- by hand -->\n<test-results name="a">',
    'NUnit 2 XML',
  ],
  ['<?xml version="1.0"?>\n<TestRun id="7" xmlns="http://microsoft.com/">', 'TRX'],
  ['<assemblies timestamp="11/20/2026"><assembly name="a.dll" failed="1">', 'xUnit.net XML'],
  ['<?xml version="1.0"?><testng-results ignored="0" failed="1">', 'TestNG XML'],
  ['<?xml version="1.0"?>\n<Site BuildName="x">\n\t<Testing>', 'CTest XML'],
  ['<TestLog><TestSuite name="a"/></TestLog>', 'Boost.Test XML'],
  ['<?xml version="1.0"?>\n<Catch2TestRun name="a">', 'Catch2 XML'],
  ['<?xml version="1.0"?>\n<robot generator="Robot 7.0">', 'Robot Framework XML'],
  ['{"numFailedTests":1,"numTotalTests":2,"testResults":[]}', 'Jest JSON'],
  ['> x\n{"stats": {"tests": 1},\n "passes": [], "failures": []}', 'Mocha JSON'],
  ['{"config":{},"suites":[],"stats":{"expected":1,"unexpected":1}}', 'Playwright JSON'],
  ['[{"keyword":"Feature","elements":[{"steps":[]}]}]', 'Cucumber JSON'],
  ['{"version":"3.13","examples":[],"summary_line":"1 example, 1 failure"}', 'RSpec JSON'],
  ['{ "type": "suite", "event": "started", "test_count": 2 }', 'cargo test JSON'],
  ["##teamcity[testFailed name='a']", 'TeamCity messages'],
  ['diff --git a/a.xml b/a.xml\n <test-run id="2">', null],
  ['All tests pass. The <test-run> is in the archive.', null],
  ['{"stats":{"passes":3}}', null],
  ['# 2 failed, 3 passed', null],
  ['', null],
]

t.test('a report that is not read is named', async (t) => {
  for (const [text, name] of REPORTS) t.equal(unreadReport(text), name, text)
})

t.test('a patch of a report is not a report', async (t) => {
  const patch = 'diff --git a/a.tap b/a.tap\n+++ b/a.tap\n 1..1\n+<testsuite/>\n'
  t.notOk(looksLikeReport(patch))
  t.ok(looksLikeReport(patch.slice(patch.indexOf('1..1'))))
})
