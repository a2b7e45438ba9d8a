import { spawnSync } from 'node:child_process'
import t from 'tap'
import { readJunit } from '../../src/runners/reports/junit.ts'
import { openReportReader } from '../../src/runners/reports/report-reader.ts'
import { readTap } from '../../src/runners/reports/tap.ts'
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

/** Seven tests for a person: five that count, one skipped, one to do. */
const NODE_TESTS = `
  import assert from 'node:assert'
  import { describe, it, test } from 'node:test'
  test('alone', () => {})
  test('parent', async t => {
    await t.test('first', () => {})
    await t.test('second <&>', () => FAIL)
    await t.test('third', { skip: true }, () => {})
  })
  describe('suite', () => {
    it('a', () => {})
    describe('inner', () => it('b', () => {}))
    it('later', { todo: true }, () => { throw new Error('not yet') })
  })`

/** What Node's own runner prints; the variables of the runner we are in would change it. */
function nodeReport(tests: string, reporter: 'tap' | 'junit') {
  const dir = t.testdir({ 'a.test.mjs': tests })
  const args = ['--test', `--test-reporter=${reporter}`, `${dir}/a.test.mjs`]
  return spawnSync(process.execPath, args, { encoding: 'utf8', env: { PATH: process.env.PATH } })
}

t.test('a report of node --test', async (t) => {
  const passing = NODE_TESTS.replace('FAIL', 'assert.ok(true)')
  const failing = NODE_TESTS.replace('FAIL', 'assert.equal(1, 2)')
  for (const [reporter, read] of [
    ['tap', readTap],
    ['junit', readJunit],
  ] as const) {
    t.test(`as ${reporter}`, async (t) => {
      const passed = nodeReport(passing, reporter)
      t.equal(passed.status, 0)
      t.strictSame(countsOf(read(passed.stdout)), results(5, 0, 2))
      const failed = nodeReport(failing, reporter)
      t.equal(failed.status, 1)
      t.strictSame(countsOf(read(failed.stdout)), results(4, 1, 2))
      t.strictSame(
        countsOf(read(`> my@1.0.0 test\n\n${passed.stdout}\nbye\n`)),
        results(5, 0, 2),
        'noise',
      )
      const cut = failed.stdout.slice(0, failed.stdout.length / 2)
      t.equal(read(cut)?.ok, false, 'half of it is not ok')
    })
  }

  t.test('a parent that fails after its subtests is a failed test, in TAP', async (t) => {
    const tests = `
      import { test } from 'node:test'
      test('parent', async t => {
        await t.test('child', () => {})
        throw new Error('afterwards')
      })`
    t.strictSame(countsOf(readTap(nodeReport(tests, 'tap').stdout)), results(1, 1))
  })

  t.test('a file that does not load is a failed test', async (t) => {
    t.strictSame(countsOf(readTap(nodeReport('throw new Error()', 'tap').stdout)), results(0, 1))
    t.strictSame(
      countsOf(readJunit(nodeReport('throw new Error()', 'junit').stdout)),
      results(0, 1),
    )
  })
})

t.test('a report of tap', async (t) => {
  const tap = JSON.stringify(import.meta.resolve('tap'))
  const dir = t.testdir({
    'a.mjs': `
      import t from ${tap}
      t.test('two', async t => { t.ok(true); t.equal(1, 1) })
      t.test('none', async t => {})
      t.test('skipped', { skip: true }, async t => t.fail())
      t.test('to do', { todo: true }, async t => t.fail())
      t.test('bad', async t => { t.ok(true); t.equal(1, 2); t.ok(1, { skip: true }) })
      t.test('deep', async t => t.test('deeper', { buffered: true }, async t => { t.pass() }))`,
  })
  const env = { PATH: process.env.PATH, TAP: '1' }
  const { stdout } = spawnSync(process.execPath, ['a.mjs'], { cwd: dir, encoding: 'utf8', env })
  t.match(stdout, 'TAP version 14')
  t.strictSame(
    countsOf(readTap(stdout)),
    results(5, 1, 3),
    'two, none, bad (2), deeper; and three skipped',
  )
})

t.test('entities are not expanded', async (t) => {
  const levels = Array.from(
    { length: 9 },
    (_, i) => `<!ENTITY l${i + 1} "${`&l${i};`.repeat(10)}">`,
  )
  const xml = `<?xml version="1.0"?><!DOCTYPE x [<!ENTITY l0 "lol">${levels.join('')}]>
    <testsuites><testcase name="&l9;"><failure message="&l9;">&l9;</failure></testcase></testsuites>`
  const before = process.memoryUsage().heapUsed
  t.match(readJunit(xml), { failed: 1, ok: false })
  t.ok(process.memoryUsage().heapUsed - before < 50e6)
  const file =
    '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><testsuite><testcase name="&e;"/></testsuite>'
  t.strictSame(countsOf(readJunit(file)), results(1, 0))
})

t.test('a report reader', async (t) => {
  const noFailures: TestResults = { ...results(1, 0), failures: [] }
  const tap = { format: 'tap', results: noFailures }
  const long = `TAP version 13\n${Array.from({ length: 90 }, (_, i) => `${' '.repeat(4 * i)}# Subtest: x\n`).join('')}`
  const hostile = long.repeat(2_000)
  await t.test('reads one report after the other', async (t) => {
    const reader = openReportReader()
    t.teardown(reader.close)
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
    const reader = openReportReader()
    t.teardown(reader.close)
    const reason = 'the report nests its tests more than 100 deep'
    t.strictSame(await reader.read(deep.join('')), { results: null, reason })
  })
  await t.test('says so where the parser breaks', async (t) => {
    const reader = openReportReader()
    t.teardown(reader.close)
    const nested = `<testsuites>${'<testsuite>'.repeat(200_000)}`
    const { results: none } = await reader.read(nested)
    t.notOk(none?.ok)
    t.strictSame(await reader.read('1..1\nok 1\n'), tap)
  })
})
