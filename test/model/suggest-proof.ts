import t from 'tap'
import type { GateItem } from '../../src/model/gate.ts'
import { itemsMetBy, suggestProof, unmetText, unmetTypes } from '../../src/model/suggest-proof.ts'

const item = (type: string, description: string, required = true): GateItem => ({
  type,
  description,
  required,
  checked: false,
  satisfied_by: null,
})
const gateWith = (items: GateItem[], verified = 0, waiting: string[] = []) => ({
  verified,
  items,
  objections: waiting.map((type) => ({ type, code: 'not_verified' })),
})
const row = (artifact: string, type: string, why_not: string | null = null) => ({
  artifact,
  type,
  why_not,
})
const PATCH = row('1-changes.patch', 'diff')
const FAILED = row('2-test.tap', 'test-log', '1 of 2 tests failed')
const PASSED = row('1-test.tap', 'test-log')
const LOG = row('1-say.log', 'log')
const TESTS = item('test-log', 'All tests pass')

t.test('only what would meet an open item is suggested', async (t) => {
  const rows: [
    name: string,
    rows: (typeof PATCH)[],
    gate: ReturnType<typeof gateWith>,
    string[],
  ][] = [
    ['a patch is no test log', [PATCH, LOG], gateWith([TESTS]), []],
    ['failed tests are not', [FAILED, PATCH], gateWith([TESTS]), []],
    ['older ones that passed are', [FAILED, PASSED], gateWith([TESTS]), ['1-test.tap']],
    [
      'required items come first',
      [PATCH, PASSED],
      gateWith([item('diff', 'Read', false), TESTS]),
      ['1-test.tap', '1-changes.patch'],
    ],
    ['nothing if a proof of the type waits', [PASSED], gateWith([TESTS], 0, ['test-log']), []],
    ['without a checklist the tests', [LOG, PASSED], gateWith([]), ['1-test.tap']],
    ['or else a log', [PATCH, LOG], gateWith([]), ['1-say.log']],
    ['but nothing if the tests failed', [FAILED, LOG], gateWith([]), []],
    ['nothing if all is met', [PASSED], gateWith([], 1), []],
  ]
  for (const [name, offered, gate, expected] of rows) {
    const found = suggestProof(offered, gate).map((each) => each.row.artifact)
    t.strictSame(found, expected, name)
  }
})

t.test('what nothing would meet is named, with the reason', async (t) => {
  const [unmet] = unmetTypes([FAILED, PATCH], gateWith([TESTS]))
  t.match(
    unmetText(unmet!, [FAILED, PATCH]),
    /^No candidate would meet "All tests pass" \(2-test\.tap: 1 of 2 tests failed\)\. Run the tests/,
  )
  t.strictSame(unmetTypes([FAILED, PASSED], gateWith([TESTS])), [])
  t.strictSame(unmetTypes([PATCH], gateWith([TESTS], 0, ['test-log'])), [], 'one waits')
  t.strictSame(unmetTypes([], gateWith([item('diff', 'Read', false)])), [], 'it is optional')
  t.match(unmetTypes([FAILED], gateWith([])), [{ items: ['At least one verified proof'] }])
})

t.test('what a proof of a type would meet', async (t) => {
  t.strictSame(itemsMetBy('test-log', gateWith([TESTS])), ['All tests pass'])
  t.strictSame(itemsMetBy('diff', gateWith([TESTS])), [])
  t.strictSame(itemsMetBy('diff', gateWith([])), ['At least one verified proof'])
  t.strictSame(itemsMetBy('diff', gateWith([], 1)), [])
})
