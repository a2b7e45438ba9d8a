import { readFileSync } from 'node:fs'
import t from 'tap'
import { readReport } from '../../src/runners/reports/read-report.ts'
import { isPassingNote, testNote } from '../../src/runners/reports/test-results.ts'

/** What a person reads about a report; `-` if there is none. */
function noteOn(text: string): string {
  const { results } = readReport(text)
  return results ? testNote(results) : '-'
}

const recorded = (name: string) =>
  readFileSync(new URL(`../fixtures/reports/${name}`, import.meta.url), 'utf8')

const INCOMPLETE = 'but the report is incomplete'
const passed = (count: number) => `${count} of ${count} ${count === 1 ? 'test' : 'tests'} passed`
const incomplete = (count: number) => `${passed(count)}, ${INCOMPLETE}`

function checkNotes(title: string, cases: readonly (readonly [text: string, note: string])[]) {
  t.test(title, async (t) => {
    for (const [text, note] of cases) {
      t.equal(noteOn(text), note, text)
      const crlf = text.replaceAll('\n', '\r\n')
      t.equal(noteOn(crlf), note, 'with CRLF')
      t.equal(noteOn(`\uFEFF${text}`), note, 'with a byte order mark')
      t.equal(isPassingNote(note), readReport(text).results?.ok === true && !/^no tests/.test(note))
    }
  })
}

t.test('reports of real programs', async (t) => {
  const cases = [
    ['pytest-skipped-and-error.xml', '1 of 2 tests failed'],
    ['ava-title-with-skip.tap', '1 of 2 tests failed, 1 skipped'],
    ['surefire-flaky.xml', '3 of 3 tests passed, 1 flaky'],
    ['gradle-retry.xml', '1 of 1 test passed, 1 flaky'],
    ['go-unterminated.jsonl', '10 of 10 tests passed'],
    ['ava-failing-todo-title.tap', `2 of 2 tests passed, 1 skipped, ${INCOMPLETE}`],
    ['ava-passing.tap', '3 of 3 tests passed, 3 skipped'],
    ['tape-todo.tap', 'no tests ran, 4 skipped'],
    ['vitest-nested.tap', '5 of 5 tests passed, 2 skipped'],
    ['playwright-flaky.xml', '3 of 3 tests passed, 1 flaky, 1 skipped'],
    ['pytest-subtests.xml', '4 of 4 tests passed, 1 skipped'],
    ['mocha-junit-grep.xml', '2 of 2 tests passed'],
    ['ctest.xml', '1 of 2 tests failed, 3 skipped'],
  ] as const
  for (const [name, note] of cases) t.equal(noteOn(recorded(name)), note, name)
  t.strictSame(readReport(recorded('gradle-retry.xml')), {
    format: 'junit',
    results: {
      run: 1,
      passed: 1,
      failed: 0,
      skipped: 0,
      ok: true,
      failures: [],
      flaky: { count: 1, names: ['org.example.StoreTest > syncs()'] },
    },
  })
})

const one = (inner: string, attributes = '') =>
  `<testsuite name="s"><testcase name="a"${attributes}>${inner}</testcase></testsuite>`

checkNotes('in JUnit XML a failure beats everything but a todo of Node', [
  [one('<skipped/><failure/>'), '1 of 1 test failed'],
  [one('<failure/><skipped type="pytest.skip"/>'), '1 of 1 test failed'],
  [one('<skipped/>', ' status="failed"'), '1 of 1 test failed'],
  [one('<failure/>', ' status="disabled"'), '1 of 1 test failed'],
  [one('<skipped type="todo"/><failure/>'), '1 of 1 test failed'],
  [one('<skipped type="todo"/><error/>', ' failure="x"'), '1 of 1 test failed'],
  [one('<skipped type="todo"/><failure/>', ' failure="x"'), 'no tests ran, 1 skipped'],
  [one('<j:failure/>'), '1 of 1 test failed'],
  [one('<flakyFailure/><failure/>'), '1 of 1 test failed'],
  [one('<failure/><rerunFailure/>'), '1 of 1 test failed'],
  [one('', ' result="Failed"'), '1 of 1 test failed'],
  [one('', ' success="false"'), '1 of 1 test failed'],
  [one('', ' status="run" result="completed"'), passed(1)],
  [one('', ' skipped="false"'), passed(1)],
  ...['notrun', 'disabled', 'skipped', 'ignored', 'Ignored'].map(
    (status) => [one('', ` status="${status}"`), 'no tests ran, 1 skipped'] as const,
  ),
  [one('', ' skipped="true"'), 'no tests ran, 1 skipped'],
  [one('<system-err><failure/></system-err>'), passed(1)],
  [one('<properties><property name="failure"/></properties>'), passed(1)],
  [one('<system-out>&lt;failure/&gt;<![CDATA[<failure/>]]></system-out>'), passed(1)],
  [one('<!-- <failure/> -->'), passed(1)],
  [
    '<testsuite name="s"><group><testcase><failure/></testcase></group></testsuite>',
    '1 of 1 test failed',
  ],
  ['<testsuite name="s" tests="0"><error message="setup"/></testsuite>', '1 of 1 test failed'],
  [`<?xml version="1.0" encoding="UTF-16"?>${one('<failure/>')}`, '1 of 1 test failed'],
])

const suite = (attributes: string, cases: string) =>
  `<testsuite name="s" ${attributes}>${cases}</testsuite>`
const OK = '<testcase name="a"/>'
const SKIPPED = '<testcase name="b"><skipped/></testcase>'

checkNotes('totals of a JUnit report that contradict it make it incomplete', [
  [suite('tests="1" failures="1"', OK), incomplete(1)],
  [
    suite('tests="2" failures="1" skipped="1"', OK + SKIPPED),
    `${passed(1)}, 1 skipped, ${INCOMPLETE}`,
  ],
  [`<testsuites failures="1">${suite('', OK)}</testsuites>`, incomplete(1)],
  [`<testsuites>${suite('', suite('errors="2"', OK))}</testsuites>`, incomplete(1)],
  [suite('tests="3"', OK), incomplete(1)],
  [suite('tests="5"', ''), `no tests ran, ${INCOMPLETE}`],
  [`<testsuites tests="3">${suite('tests="1"', OK)}</testsuites>`, incomplete(1)],
  [suite('tests="1" skipped="1"', OK), incomplete(1)],
  [suite('tests="3" skipped="1"', OK + SKIPPED), `${passed(1)}, 1 skipped, ${INCOMPLETE}`],
  [`${suite('tests="1"', OK)}\n${suite('tests="2"', OK)}`, incomplete(2)],
  [`<testsuites>${OK}<!-- pass 1 --><!-- fail 1 --><!-- todo 0 --></testsuites>`, incomplete(1)],
  [`<testsuites>${OK}<!-- fail 0 --><!-- cancelled 1 --></testsuites>`, incomplete(1)],
  [
    `<testsuites name="pytest tests"><testsuite name="pytest" tests="2"/></testsuites>`,
    `no tests ran, ${INCOMPLETE}`,
  ],
])

checkNotes('totals that count otherwise do not', [
  [`<testsuites><!-- fail 1 -->${OK}<!-- fail 0 --></testsuites>`, passed(1)],
  [suite('tests="1" failures="0" skipped="1"', OK + SKIPPED), `${passed(1)}, 1 skipped`],
  [suite('tests="2" failures="0" skipped="1"', OK), passed(1)],
  [suite('tests="1"', `${suite('tests="2"', OK + OK)}`), passed(2)],
  [
    `<testsuites tests="4">${suite('tests="2"', suite('tests="2"', OK + OK))}${suite('tests="2"', OK + OK)}</testsuites>`,
    passed(4),
  ],
  [
    '<testsuite name="c" tests="9" hostname="tbd"><testcase name="a" status="run"/></testsuite>',
    passed(1),
  ],
])

const RETRY = '<testcase name="syncs()" classname="org.example.StoreTest" time="0.6"'
const BAD = `${RETRY}><failure message="no"/></testcase>`
const GOOD = `${RETRY}/>`
const gradle = (cases: string, more = '') =>
  `<testsuite name="org.example.StoreTest"${more}>${cases}</testsuite>`

/** A suite with a display name instead of its class. */
const displayed = (totals: string) =>
  `<testsuite name="A store" ${totals} errors="0" timestamp="t" hostname="h" time="1">${BAD}${GOOD}</testsuite>`

checkNotes('a test that passed on a retry is flaky, and passed', [
  [one('<flakyFailure/>'), `${passed(1)}, 1 flaky`],
  [
    suite('tests="1" failures="1"', '<testcase><flakyFailure/></testcase>'),
    `${passed(1)}, 1 flaky`,
  ],
  [
    suite('tests="1" failures="2"', '<testcase><flakyFailure/></testcase>'),
    `${passed(1)}, 1 flaky, ${INCOMPLETE}`,
  ],
  [gradle(BAD + GOOD), `${passed(1)}, 1 flaky`],
  [gradle(BAD + BAD + GOOD, ' tests="3" failures="2"'), `${passed(1)}, 1 flaky`],
  [gradle(BAD + BAD), '1 of 1 test failed'],
  [gradle(GOOD + BAD), '1 of 2 tests failed'],
  [gradle(`${BAD}${RETRY}><skipped/></testcase>`), '1 of 1 test failed, 1 skipped'],
  [displayed('tests="2" skipped="0" failures="1"'), `${passed(1)}, 1 flaky`],
  // pytest writes the same attributes in another order, and a failed subtest before its test
  [displayed('failures="1" skipped="0" tests="2"'), '1 of 2 tests failed'],
  // two tests of one name, in reports that are not Gradle's
  [gradle(BAD + GOOD, ' version="3.0"'), '1 of 2 tests failed'],
  [gradle(`${BAD.replace('time', 'assertions="1" time')}${GOOD}`), '1 of 2 tests failed'],
  [
    `<testsuite name="a.test.ts">${(BAD + GOOD).replaceAll('org.example.StoreTest', 'a.test.ts')}</testsuite>`,
    '1 of 2 tests failed',
  ],
])

const tap = (...points: string[]) => `TAP version 14\n${points.join('\n')}\n1..${points.length}\n`

checkNotes('a directive of TAP is what the specification says', [
  [tap('not ok 1 - a #skip() b'), '1 of 1 test failed'],
  [tap('not ok 1 - issue#skip b'), '1 of 1 test failed'],
  [tap('not ok 1 - a \\# SKIP b'), '1 of 1 test failed'],
  [tap('not ok 1 - a # b'), '1 of 1 test failed'],
  [tap('not ok 1 - a # todos-list'), '1 of 1 test failed'],
  [tap('not ok 1 - a # SKIP'), 'no tests ran, 1 skipped'],
  [tap('not ok 1 - a # Skipped: reason'), 'no tests ran, 1 skipped'],
  [tap('not ok 1 - a\t#  skip x'), 'no tests ran, 1 skipped'],
  [tap('not ok 1 # TODO'), 'no tests ran, 1 skipped'],
  [tap('not ok 1 - fixes #12 # TODO later'), 'no tests ran, 1 skipped'],
  [tap('ok 1 - a # time=5ms', 'not ok 2 - b # time=1ms'), '1 of 2 tests failed'],
])

/** The output of `prove -v`. */
const prove = (files: string, result = 'PASS') => `t/a.t .. \n${files}Files=2\nResult: ${result}\n`

checkNotes("the runner's own closing counts decide about a doubtful title", [
  [
    `${tap('ok 1 - a', 'not ok 2 - b # TODO 17\n  ---\n  a: 1\n  ...')}# tests 2\n# pass 1\n# fail 1\n`,
    `${passed(1)}, 1 skipped, ${INCOMPLETE}`,
  ],
  [
    `${tap('ok 1 - a', 'not ok 2 - b # TODO')}# tests 2\n# pass 1\n# fail 1\n`,
    `${passed(1)}, 1 skipped`,
  ],
  [`${tap('ok 1 - a')}# tests 1\n# pass  1\n\n# ok\n`, passed(1)],
  [`${tap('ok 1 - a')}# fail 1\n`, incomplete(1)],
  [`${tap('ok 1 - a')}# tests 2\n`, incomplete(1)],
  [`${tap('ok 1 - a')}# failed 1 of 2 tests\n`, incomplete(1)],
  [`${tap('ok 1 - a')}# Looks like you failed 1 test of 1.\n`, incomplete(1)],
  ['# Looks like your test exited with 3 just after 1.\n1..1\nok 1 - a\n', incomplete(1)],
  [`${tap('ok 1 - a')}# Totals: pass:0 fail:1 xfail:0 xpass:0 skip:0 error:0\n`, incomplete(1)],
  [`${tap('ok 1 - a')}# Totals: pass:1 fail:0 xfail:0 xpass:0 skip:0 error:0\n`, passed(1)],
  [prove('ok 1 - a\n1..1\n', 'FAIL'), incomplete(1)],
  ['TAP version 13\n# fail 3\nok 1 - prints "# fail 3"\n1..1\n', passed(1)],
])

checkNotes('prove says ok below each file that passed', [
  [prove('1..2\nok 1 - a\nok 2 - b\nok\nt/b.t .. \n1..1\nok 1 - c\nok\n'), passed(3)],
  [
    prove('ok 1 - a\n1..1\nok       34 ms ( 0.00 usr )\nt/b.t .. \nok 1 - c\n1..1\nok\n'),
    passed(2),
  ],
  [prove('1..1\nnot ok 1 - a\nFailed 1/1 subtests\n', 'FAIL'), '1 of 1 test failed'],
  ['1..2\nok\nok\nok\n', incomplete(3)],
])

checkNotes('plans, subtests and ends of TAP', [
  ['1..2\nok 1\nok 1\n', incomplete(2)],
  ['1..2\nok 1\nok 3\n', incomplete(2)],
  ['1..1\n# Subtest: a\n    not ok 1 - b\n    1..1\nok 1 - a\n', '1 of 1 test failed'],
  ['1..0 # skip no database\n', 'no tests ran'],
  ['TAP version 13\npragma +strict\n1..1\nok 1\n', passed(1)],
  ['1..1\nok 1\nBail out!\n', incomplete(1)],
])

checkNotes('prose is not TAP, and TAP without a plan is incomplete', [
  ['ok 4 tests', '-'],
  ['It is\nok now, and 1..2 of 3 is done\nok \n', '-'],
  ['ok 1 opens\nok 2 closes\n', incomplete(2)],
  ['TAP version 13\nok opens\n', incomplete(1)],
  ['ok 1 opens\nnot ok 2 closes\n', '1 of 2 tests failed'],
  ['1..3\n', `no tests ran, ${INCOMPLETE}`],
])

checkNotes('what TAP says of its tests', [
  ['', '-'],
  ['TAP version 14\n', '-'],
  ['1..2\nok 1\nok 2\n', passed(2)],
  ['1..4\nok 1\nok 2 # SKIP\nnot ok 3 # TODO later\nok 4 # skip x\n', `${passed(1)}, 3 skipped`],
  ['1..5\nok 1\nok 2\n', incomplete(2)],
  ['1..1\n# Subtest: a\n    ok 1\n    Bail out!\n', incomplete(1)],
  ['Bail out!\n', `no tests ran, ${INCOMPLETE}`],
  ['TAP version 13\n# Subtest: a\n    ok 1 - b\n    1..1\n', incomplete(1)],
  ['1..1\n# Subtest: a\n    1..2\n    ok 1\nok 1 - a\n', incomplete(1)],
  [
    '1..1\n# Subtest: a\n    ok 1\n    not ok 2\n    1..2\nnot ok 1 - a # TODO\n',
    'no tests ran, 2 skipped',
  ],
])

checkNotes('what JUnit XML says of its tests', [
  ['<html><body/></html>', '-'],
  ['<testsuites/>', 'no tests ran'],
  [one('', ' failure="x"'), '1 of 1 test failed'],
  [suite('', `<testcase><error/></testcase>${OK}`), '1 of 2 tests failed'],
  [suite('', `<error message="setup"/>${OK}`), '1 of 2 tests failed'],
  [suite('', OK + SKIPPED), `${passed(1)}, 1 skipped`],
  [`<testsuites>${OK}${suite('', OK + suite('', OK))}</testsuites>`, passed(3)],
  ['<testsuites><testcase/><testcase><fail', `no tests ran, ${INCOMPLETE}`],
  ['<testsuites><testsuite><testcase/>', incomplete(1)],
])

const event = (Action: string, Test?: string, more: object = {}) =>
  `${JSON.stringify({ Action, Package: 'p', Test, ...more })}\n`
const said = (Test: string, Output: string) =>
  event('run', Test) + event('output', Test, { Output })
const build = (Action: string) => `${JSON.stringify({ ImportPath: 'q', Action })}\n`

checkNotes('a test of go without a result is not left out', [
  [said('TestA', 'hello--- PASS: TestA (0.00s)\n') + event('pass'), passed(1)],
  [said('TestA', 'hello--- FAIL: TestA (0.00s)\n') + event('fail'), '1 of 1 test failed'],
  [said('TestA', 'hello--- SKIP: TestA (0.00s)\n') + event('pass'), 'no tests ran, 1 skipped'],
  [
    said('TestA', 'hello--- PASS: TestB (0.00s)\n') + event('pass', 'TestB') + event('pass'),
    incomplete(1),
  ],
  [event('run', 'TestA') + event('pass', 'TestB') + event('pass'), incomplete(1)],
  [event('run', 'TestA') + event('pass', 'TestA/b') + event('pass'), incomplete(1)],
  [event('run', 'BenchmarkA') + event('pass', 'TestB') + event('pass'), passed(1)],
  [event('pass', 'TestB') + event('pass') + build('build-fail'), incomplete(1)],
  [`${event('pass', 'TestB')}${event('pass')}FAIL\tq\t0.004s\n`, '1 of 2 tests failed'],
])
