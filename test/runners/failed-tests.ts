import { readFileSync } from 'node:fs'
import t from 'tap'
import type { FailedTest } from '../../src/model/failed-test.ts'
import type { ReportFormat } from '../../src/model/report-formats.ts'
import { readReport } from '../../src/runners/reports/read-report.ts'
import type { TestResults } from '../../src/runners/reports/test-results.ts'

/** Reports as the programs printed them; those of Go are written as `go doc test2json` describes them. */
const recorded = (name: string) =>
  readFileSync(new URL(`../fixtures/reports/${name}`, import.meta.url), 'utf8')

const failed = (name: string, message: string | null, place: string | null = null): FailedTest => {
  const [, file = null, line = null] = /^(.*):(\d+)$/.exec(place ?? '') ?? []
  return { name, message, file, line: line === null ? null : Number(line) }
}

const results = (
  passed: number,
  failures: FailedTest[],
  { skipped = 0, ok = failures.length === 0 } = {},
): TestResults => {
  return { run: passed + failures.length, passed, failed: failures.length, skipped, ok, failures }
}

const login = 'example.com/shop/login'
const nodeFile = '/home/ann/shop/test/login.test.mjs'
const equalMessage =
  'Expected values to be strictly deep-equal: + actual - expected { + expired: false - expired: true }'
const nodeTap = results(
  2,
  [
    failed('a token > expires <&> "ends"', equalMessage, `${nodeFile}:8`),
    failed('a session > is renewed', 'renew is not a function', `${nodeFile}:13`),
  ],
  { skipped: 2 },
)
const tapFailures = [
  failed('sums > large > too large', '-3 +2', 'test/a.mjs:6'),
  failed('throws > boom', null, 'test/a.mjs:10'),
]
const surefire = results(
  1,
  [
    failed(
      'com.example.LoginTest > tokenExpires',
      'expected: <true> but was: <false>',
      'LoginTest.java:42',
    ),
    failed('com.example.CartTest > sums', 'java.lang.NullPointerException', 'CartTest.java:19'),
  ],
  { skipped: 1 },
)
const pytest = results(
  1,
  [
    failed(
      'pytest > tests.test_login.TestToken > test_expires["3600"]',
      'assert False + where False = expired(3600)',
      'tests/test_login.py:12',
    ),
  ],
  { skipped: 1 },
)
const goFailing = results(
  4,
  [
    failed(
      `${login} > TestToken > expires > at_once`,
      'expired = false, want true after 3600 s',
      'token_test.go:31',
    ),
    failed(`${login} > TestParent`, 'cleanup: still open', 'token_test.go:44'),
  ],
  { skipped: 1 },
)

t.test('recorded reports', async (t) => {
  const cases: [name: string, ReportFormat, TestResults][] = [
    ['node.tap', 'tap', nodeTap],
    [
      'node.xml',
      'junit',
      {
        ...nodeTap,
        failures: [
          failed(
            'a token > expires <&> &quot;ends&quot;',
            'Expected values to be strictly deep-equal:+ actual - expected {+ expired: false- expired: true }',
            `${nodeFile}:8`,
          ),
          nodeTap.failures[1]!,
        ],
      },
    ],
    ['tap.tap', 'tap', results(2, tapFailures)],
    ['surefire.xml', 'junit', surefire],
    ['pytest.xml', 'junit', pytest],
    ['go-passing.jsonl', 'go', results(1, [])],
    ['go-failing.jsonl', 'go', goFailing],
    [
      'go-build-failure.jsonl',
      'go',
      results(1, [
        failed(
          login,
          'build failed: login/token_test.go:9:2: undefined: renew',
          'login/token_test.go:9',
        ),
      ]),
    ],
    ['go-build-failure-1.13.jsonl', 'go', results(1, [failed(login, 'build failed')])],
    [
      'go-panic.jsonl',
      'go',
      results(1, [
        failed(
          `${login} > TestRenew`,
          'panic: runtime error: index out of range [3] with length 2',
          '/home/ann/shop/login/token.go:17',
        ),
      ]),
    ],
    ['go-exit.jsonl', 'go', results(0, [failed(login, 'no database')])],
  ]
  for (const [name, format, expected] of cases) {
    t.test(name, async (t) => {
      const text = recorded(name)
      t.strictSame(readReport(text), { format, results: expected })
      const around = `> npm test\n\n${text}\nDone <in> 2 s & more\n`
      t.strictSame(readReport(around), { format, results: expected }, 'with other lines around')
      const crlf = text.replaceAll('\n', '\r\n')
      t.match(readReport(crlf), { results: { failed: expected.failed } }, 'with CRLF')
    })
    t.test(`${name}, cut`, async (t) => {
      const text = recorded(name)
      for (const share of [0.9, 0.7, 0.5, 0.3]) {
        const { results } = readReport(text.slice(0, text.length * share))
        t.ok(results === null || !results.ok, `${share} of it is not ok`)
      }
    })
  }
})

t.test('several reports in one text count together', async (t) => {
  const reports: [string, Partial<TestResults>][] = [
    [`${recorded('node.xml')}${recorded('pytest.xml')}`, { run: 6, failed: 3, skipped: 3 }],
    [`${recorded('node.tap')}${recorded('node.tap')}`, { run: 8, failed: 4, skipped: 4 }],
    ['TAP version 13\nok 1\n1..1\nTAP version 13\n1..2\nok 1\nok 2\n', { run: 3, ok: true }],
    ['<testsuite><testcase/></testsuite>\n'.repeat(3), { run: 3, ok: true }],
    ['ok 1\n1..1\nTAP version 13\n1..2\nok 1\nnot ok 2\n', { run: 3, failed: 1 }],
    ['ok 1\n1..1\nok 1\nnot ok 2\n1..2\n', { run: 3, failed: 1 }],
    ['1..1\nok 1\n1..2\nok 1\nnot ok 2\n', { run: 3, failed: 1 }],
    [
      'ok 1\n1..1\n# Subtest: a\n    not ok 1\n    1..1\nnot ok 1 - a\n1..1\n',
      { run: 2, failed: 1 },
    ],
    ['1..0 # skip\nTAP version 13\n1..1\nok 1\n', { run: 1, ok: true }],
    ['ok 1\n1..1\nBail out! no database\n', { run: 1, ok: false }],
    ['ok 1\n1..1\nok, this is over\n', { run: 1, ok: true }],
    ['1..1\nok 1\n  ---\n  note: |\n    ok 2\n    1..3\n  ...\n', { run: 1, ok: true }],
    ['1..2\nok 1\nTAP version 13\nok 2\n', { run: 2, ok: true }],
    [`${recorded('go-passing.jsonl')}${recorded('go-exit.jsonl')}`, { run: 2, failed: 1 }],
  ]
  for (const [text, expected] of reports) t.match(readReport(text).results, expected)
  const broken = `<?xml version="1.0"?>\n<testsuites><testsuite><testcase/>\n${recorded('pytest.xml')}`
  t.match(readReport(broken).results, { run: 3, failed: 1, ok: false }, 'the first one breaks off')
  const open =
    '<?xml version="1.0"?>\n<testsuites><testcase/>\n<?xml version="1.0"?>\n<testsuites/>'
  t.match(readReport(open).results, { run: 1, failed: 0, ok: false })
  const cut = 'TAP version 13\n1..2\nok 1\nTAP version 13\n1..1\nok 1\n'
  t.match(readReport(cut).results, { ok: false })
})

t.test('what holds no report', async (t) => {
  const texts = [
    '',
    'All 47 tests passed.\n',
    'ok  \texample.com/shop\t0.003s\nFAIL\texample.com/shop/login\t0.004s\n',
    '{"level":"info","Action":"start","msg":"an application logs JSON"}\n',
    '{"Action":"run","Package":',
    '<html><body/></html>',
    'it is <b>ok</b> 1..2 of 3\n',
  ]
  for (const text of texts) t.strictSame(readReport(text), { results: null }, JSON.stringify(text))
})

t.test('a report that a test printed is not the report', async (t) => {
  const inTap =
    'TAP version 13\n# <testsuite><testcase><failure/></testcase></testsuite>\nok 1\n1..1\n'
  t.match(readReport(inTap), { format: 'tap', results: { run: 1, ok: true } })
  const inXml =
    '<testsuite><testcase><system-out>\nnot ok 1\n1..1\n</system-out></testcase></testsuite>'
  t.match(readReport(inXml), { format: 'junit', results: { run: 1, ok: true } })
})

t.test('go test -json', async (t) => {
  const event = (action: string, test?: string, more: object = {}) =>
    `${JSON.stringify({ Action: action, Package: 'p', ...(test ? { Test: test } : {}), ...more })}\n`
  const cases: [name: string, text: string, expected: Partial<TestResults>][] = [
    ['nothing ran', event('start') + event('pass'), { run: 0, ok: true }],
    ['no test files', event('skip'), { run: 0, ok: true }],
    [
      'run twice, failed once',
      `${['run', 'fail', 'run', 'pass'].map((each) => event(each, 'TestA')).join('')}${event('fail')}`,
      { run: 1, failed: 1 },
    ],
    [
      'a skipped subtest',
      event('run', 'TestA') + event('skip', 'TestA/b') + event('pass', 'TestA') + event('pass'),
      { run: 0, skipped: 1, ok: true },
    ],
    [
      'a failed parent of a test without an end',
      event('run', 'TestA') + event('run', 'TestA/b') + event('fail', 'TestA') + event('fail'),
      { run: 1, failed: 1, failures: [failed('p > TestA > b', null)] },
    ],
    ['a benchmark', event('run', 'BenchmarkA') + event('pass'), { run: 0, ok: true }],
    ['a test without an end', event('run', 'TestA'), { run: 0, failed: 0, ok: false }],
    ['a package without an end', event('pass', 'TestA'), { run: 1, failed: 0, ok: false }],
    [
      'names of members of objects',
      event('pass', 'constructor') + event('fail', '__proto__') + event('fail'),
      { run: 2, failed: 1, failures: [failed('p > __proto__', null)] },
    ],
  ]
  for (const [name, text, expected] of cases) {
    t.test(name, async (t) => {
      t.match(readReport(text), { format: 'go', results: expected })
    })
  }
})

t.test('the names of failed tests are bounded and clean', async (t) => {
  const point = (index: number) =>
    `not ok ${index} - \u001b[31mred\u001b[0m ${index} 😀\u202e\u0007\n  ---\n  message: "${'m'.repeat(499)}😀 x\\n\\u001b[1mmore\\u001b[0m \\ud800"\n  ...\n`
  const many = Array.from({ length: 30 }, (_, index) => point(index + 1)).join('')
  const { results } = readReport(`TAP version 14\n${many}1..30\n`)
  t.match(results, { failed: 30 })
  t.equal(results?.failures.length, 20)
  for (const { name, message } of results!.failures) {
    t.match(name, /^red \d+ 😀$/)
    t.ok(message!.length <= 500 && message!.endsWith('m…'), message!.slice(-5))
    t.ok(message!.isWellFormed())
  }
  const long = readReport(
    `1..1\n# Subtest: ${'p'.repeat(300)}\n    not ok 1 - the test itself\n    1..1\nnot ok 1 - ${'p'.repeat(300)}\n`,
  )
  const [{ name } = { name: '' }] = long.results!.failures
  t.equal(name.length, 200)
  t.match(name, /^…?p+… > the test itself$|^…p*… > the test itself$/)
})
