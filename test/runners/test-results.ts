import t from 'tap'
import { readJunit } from '../../src/runners/reports/junit.ts'
import { openReportReader } from '../../src/runners/reports/report-reader.ts'
import type { TestResults } from '../../src/runners/reports/test-results.ts'

type Counts = Omit<TestResults, 'failures'>

const results = (passed: number, failed: number, skipped = 0, ok = failed === 0): Counts => ({
  run: passed + failed,
  passed,
  failed,
  skipped,
  ok,
})

/** Without the names, which have tests of their own. */
function countsOf(found: TestResults | null): Counts | null {
  if (!found) return null
  const { failures: _, ...counts } = found
  return counts
}

t.test('entities are not expanded', async (t) => {
  const levels = Array.from(
    { length: 9 },
    (_, i) => `<!ENTITY l${i + 1} "${`&l${i};`.repeat(10)}">`,
  )
  const xml = `<?xml version="1.0"?><!DOCTYPE x [<!ENTITY l0 "lol">${levels.join('')}]>
    <testsuites><testcase name="&l9;"><failure message="&l9;">&l9;</failure></testcase></testsuites>`
  t.match(readJunit(xml), { failed: 1, ok: false })
  const file =
    '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><testsuite><testcase name="&e;"/></testsuite>'
  t.strictSame(countsOf(readJunit(file)), results(1, 0))
})

t.test('a report reader', async (t) => {
  const noFailures: TestResults = { ...results(1, 0), failures: [] }
  const tap = { format: 'tap', results: noFailures }
  const long = `TAP version 13\n${Array.from({ length: 90 }, (_, i) => `${' '.repeat(4 * i)}# Subtest: x\n`).join('')}`
  const hostile = long.repeat(2_000)
  const reader = openReportReader()
  t.teardown(reader.close)
  await t.test('reads one report after the other', async (t) => {
    t.strictSame(await reader.read('1..1\nok 1\n'), tap)
    const junit = '<testsuites><testcase/></testsuites>'
    t.strictSame(await reader.read(junit), { format: 'junit', results: noFailures })
    t.strictSame(await reader.read('prose\n'), { results: null })
  })
  await t.test('gives up one that takes too long, and the next ones with it', async (t) => {
    const reader = openReportReader(100)
    t.teardown(reader.close)
    const tooLong = { results: null, reason: 'the report took too long to read' }
    let turns = 0
    const turning = setInterval(() => turns++, 10)
    t.strictSame(await reader.read(hostile), tooLong)
    clearInterval(turning)
    t.ok(turns >= 5, 'the service went on meanwhile')
    t.strictSame(await reader.read('1..1\nok 1\n'), tooLong)
  })
  await t.test('does not begin with one that nests without end', async (t) => {
    const deep = Array.from({ length: 2000 }, (_, i) => `${' '.repeat(4 * i)}# Subtest: x\n`)
    const reason = 'the report nests its tests more than 100 deep'
    t.strictSame(await reader.read(deep.join('')), { results: null, reason })
  })
  await t.test('says so where the parser breaks', async (t) => {
    const nested = `<testsuites>${'<testsuite>'.repeat(200_000)}`
    const { results: none } = await reader.read(nested)
    t.notOk(none?.ok)
    t.strictSame(await reader.read('1..1\nok 1\n'), tap)
  })
})
