import { readFileSync } from 'node:fs'
import t from 'tap'
import { readTests } from '../../src/runners/reports/read-report.ts'
import type { ReportedTest } from '../../src/runners/reports/reported-tests.ts'
import { inLongLane } from '../fixtures/full.ts'

const recorded = (name: string) =>
  readFileSync(new URL(`../fixtures/reports/${name}`, import.meta.url), 'utf8')

const namesOf = (tests: readonly ReportedTest[]) =>
  tests.map(({ path, outcome }) => `${outcome}: ${path.join(' > ')}`)

const tap = (lines: readonly string[]) =>
  `TAP version 13\n${lines.join('\n')}\n1..${lines.filter((line) => /^(not )?ok /.test(line)).length}\n`
const junit = (cases: string) => `<testsuites><testsuite name="s">${cases}</testsuite></testsuites>`
const goEvent = (Action: string, Test?: string, more: object = {}) =>
  `${JSON.stringify({ Action, Package: 'p', ...(Test ? { Test } : {}), ...more })}\n`

t.test('the tests of recorded reports have their suites', async (t) => {
  const node = ['failed: a token > expires <&> "ends"', 'failed: a session > is renewed']
  for (const [name, failed] of [
    ['node.tap', node],
    ['tap.tap', ['failed: sums > large > too large', 'failed: throws > boom']],
    [
      'surefire.xml',
      ['failed: com.example.LoginTest > tokenExpires', 'failed: com.example.CartTest > sums'],
    ],
    [
      'go-failing.jsonl',
      [
        'failed: example.com/shop/login > TestToken > expires > at_once',
        'failed: example.com/shop/login > TestParent',
      ],
    ],
  ] as const) {
    const found = readTests(recorded(name))!
    t.strictSame(
      namesOf(found.tests).filter((each) => each.startsWith('failed')),
      failed,
      name,
    )
    t.equal(found.omitted, 0)
    t.ok(
      found.tests.some(({ outcome }) => outcome === 'passed'),
      `${name} has those that passed, too`,
    )
  }
  t.equal(readTests('no report'), null)
})

t.test('names, messages and places are short, and on one line', async (t) => {
  const long = 'x'.repeat(5000)
  const found = [
    readTests(tap([`not ok 1 - ${long}`, '  ---', `  message: '${long}'`, '  ...'])),
    readTests(
      junit(`<testcase name="${long}"><failure message="${long}">${long}</failure></testcase>`),
    ),
    readTests(
      goEvent('output', long, { Output: `${long}\n` }) + goEvent('fail', long) + goEvent('fail'),
    ),
  ]
  for (const report of found) {
    const [test] = report!.tests.filter(({ outcome }) => outcome === 'failed')
    for (const name of test!.path) t.ok(name.length <= 200, `${name.length}`)
    t.ok((test!.message ?? '').length <= 500)
    t.ok(test!.output.length <= 4100, `${test!.output.length}`)
  }
  const [lines] = readTests(junit('<testcase name="a&#10;b&#9;c"/>'))!.tests
  t.notMatch(lines!.path.at(-1), /[\n\t]/)
  const [unnamed] = readTests('TAP version 13\nok 1\n1..1\n')!.tests
  t.ok(unnamed!.path.at(-1), 'a test without a name has one')
})

t.test('the tests below one that is to do are skipped', async (t) => {
  const below = (directive: string) =>
    `TAP version 14\n# Subtest: a\n    ok 1 - x\n    not ok 2 - y\n    1..2\nnot ok 1 - a${directive}\nnot ok 2 - z\n1..2\n`
  const found = readTests(below(' # TODO'))!
  t.strictSame(namesOf(found.tests), ['skipped: a > x', 'skipped: a > y', 'failed: z'])
  t.strictSame(namesOf(readTests(below(''))!.tests), [
    'passed: a > x',
    'failed: a > y',
    'failed: z',
  ])
  const own = 'TAP version 14\n# Subtest: a\n    ok 1 - x\n    1..1\nnot ok 1 - a\n1..1\n'
  t.strictSame(
    namesOf(readTests(own)!.tests),
    ['passed: a > x', 'failed: a'],
    'an error after them',
  )
})

t.test('a failure is placed where it is, not in a library', async (t) => {
  const at = (stack: string, more = '') => {
    const [test] = readTests(
      junit(`<testcase name="a"${more}><failure message="no">${stack}</failure></testcase>`),
    )!.tests
    return `${test!.file}:${test!.line}`
  }
  const libraries = [
    '    at run (node:internal/x.js:1:2)',
    '    at x (/p/node_modules/y/z.js:3:4)',
    '    at java.base/java.lang.X.y(X.java:5)',
    '    at org.junit.Assert.fail(Assert.java:6)',
    '  File "/usr/lib/python3/site-packages/z.py", line 7',
    '    /usr/local/go/src/testing/testing.go:8',
    '    at https://example.org/a.js:9:1',
  ].join('\n')
  t.equal(at(`${libraries}\n    at it (/p/test/a.ts:12:5)`), '/p/test/a.ts:12')
  t.equal(at('  File "/p/a.py", line 31, in f'), '/p/a.py:31')
  t.equal(at('   in C:\\p\\a.cs:line 14'), 'C:\\p\\a.cs:14')
  t.equal(at('    at x (b.js:3:1)\n    at y (/p/a.js:9:1)', ' file="a.js" line="2"'), 'a.js:9')
  t.equal(at('nothing', ' file="a.js" line="2"'), 'a.js:2')
})

t.test('deep suites are joined into the last name', async (t) => {
  const depth = 40
  const xml = `${'<testsuite name="in">'.repeat(depth)}<testcase name="here"/>${'</testsuite>'.repeat(depth)}`
  const name = `TestA/${Array.from({ length: depth }, (_, n) => `d${n}`).join('/')}`
  for (const text of [`<testsuites>${xml}</testsuites>`, goEvent('pass', name) + goEvent('pass')]) {
    const [test] = readTests(text)!.tests
    t.equal(test!.path.length, 12)
    t.match(test!.path.at(-1), /> (here|d39)$/)
    t.ok(test!.path.at(-1)!.length <= 200)
  }
})

t.test(
  'a large report names 500 failed and 5,000 other tests, and counts the rest',
  inLongLane,
  async (t) => {
    const lines = (bad: number, good: number) => [
      ...Array.from({ length: good }, (_, n) => `ok ${n + 1} - good ${n}`),
      ...Array.from({ length: bad }, (_, n) => `not ok ${good + n + 1} - bad ${n}`),
    ]
    const cases = (bad: number, good: number) =>
      '<testcase name="good"/>'.repeat(good) +
      '<testcase name="bad"><failure message="no"/></testcase>'.repeat(bad)
    const events = (bad: number, good: number) =>
      Array.from({ length: good }, (_, n) => goEvent('pass', `TestGood${n}`)).join('') +
      Array.from({ length: bad }, (_, n) => goEvent('fail', `TestBad${n}`)).join('') +
      goEvent('fail')
    for (const text of [tap(lines(700, 6000)), junit(cases(700, 6000)), events(700, 6000)]) {
      const { tests, omitted } = readTests(text)!
      t.equal(tests.filter(({ outcome }) => outcome === 'failed').length, 500)
      t.equal(tests.filter(({ outcome }) => outcome !== 'failed').length, 5000)
      t.equal(omitted, 200 + 1000)
    }
  },
)

t.test('output is bounded for the whole report', inLongLane, async (t) => {
  const output = 'y'.repeat(4000)
  const text = junit(
    `<testcase name="bad"><failure message="no">${output}</failure></testcase>`.repeat(500),
  )
  const { tests } = readTests(text)!
  const all = tests.reduce((sum, test) => sum + test.output.length, 0)
  t.ok(all <= 520 * 1024, `${all}`)
  t.equal(tests.length, 500)
})

t.test('a bomb takes little time and memory', inLongLane, async (t) => {
  const entities = Array.from(
    { length: 9 },
    (_, n) => `<!ENTITY l${n + 1} "${`&l${n};`.repeat(10)}">`,
  )
  const bombs = {
    entities: `<?xml version="1.0"?><!DOCTYPE x [<!ENTITY l0 "lol">${entities.join('')}]><testsuites><testcase name="&l9;"/></testsuites>`,
    depth: `<testsuites>${'<testsuite name="s">'.repeat(50_000)}<testcase name="a"/>`,
    subtests: `TAP version 13\n${Array.from({ length: 2000 }, (_, n) => `${' '.repeat(4 * n)}# Subtest: s${n}\n`).join('')}`,
    slashes: goEvent('pass', 'a/'.repeat(100_000)) + goEvent('pass'),
  }
  for (const [name, text] of Object.entries(bombs)) {
    const began = process.cpuUsage()
    let size = 0
    try {
      size = JSON.stringify(readTests(text)).length
    } catch (error) {
      t.match(error, RangeError, 'the worker reports this as a report that cannot be read')
    }
    const { user, system } = process.cpuUsage(began)
    t.ok((user + system) / 1e6 < 5, `${name}: ${(user + system) / 1e6} s`)
    t.ok(size < 100_000, `${name}: ${size}`)
  }
})
