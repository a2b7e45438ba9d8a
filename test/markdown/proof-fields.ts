import t from 'tap'
import {
  contentHash,
  countedProof,
  newProofText,
  readProof,
} from '../../src/markdown/proof-file.ts'
import type { Counted } from '../../src/model/proof.ts'
import { proofSummary } from '../../src/model/proof-summary.ts'
import { CASE_ID, NOW, PROOF } from '../fixtures/records.ts'

const ORIGIN = { id: 'p1', case_id: CASE_ID, created_at: NOW }
const TAP = 'TAP version 13\n1..2\nok 1 - a\nnot ok 2 - b\n'
const FAILED = { name: 'b', message: null, file: null, line: null }
const COUNTED: Counted = {
  sha256: 'x',
  image: null,
  tests: { run: 2, passed: 1, failed: 1 },
  failed_tests: [FAILED],
  flaky_tests: ['a'],
  unread: null,
}
const PICTURE = { name: 'p1.png', type: 'image/png', width: 2, height: 3, bytes: 70 } as const

const read = (fields: string, content = 'ok') =>
  readProof(`---\n${fields}\n---\n\n\`\`\`text\n${content}\n\`\`\`\n`, ORIGIN)
/** The frontmatter without the lines of every proof. */
const fieldsOf = (text: string) =>
  text
    .split('\n---\n')[0]!
    .split('\n')
    .filter((line) => !/^(?:---|id|case_id|session_id|type|created_at):?/.test(line))

t.test('what is counted is written, and what is not counted any more is emptied', async (t) => {
  const text = newProofText({ ...PROOF, ...COUNTED, exit_code: 2 }, TAP)
  t.strictSame(fieldsOf(text), [
    'sha256: x',
    'tests: { run: 2, passed: 1, failed: 1 }',
    'failed_tests: [{ name: b, message: null, file: null, line: null }]',
    'flaky_tests: [a]',
    'exit_code: 2',
    'verified: false',
    'verified_at:',
  ])
  const none = { ...COUNTED, tests: null, failed_tests: [], flaky_tests: [] }
  t.strictSame(fieldsOf(newProofText(PROOF, 'text')), [
    'sha256: x',
    'verified: false',
    'verified_at:',
  ])
  const verification = { verified_at: NOW, verified_by: 'Ada #2', meets: ['a: b', 'c'] }
  const accepted = countedProof(text, none, { ...verification, accepted: 'Known' })
  t.match(readProof(accepted, ORIGIN).value, verification)
  t.strictSame(fieldsOf(accepted), [
    'sha256: x',
    'tests:',
    'failed_tests:',
    'flaky_tests:',
    'exit_code: 2',
    'verified: true',
    `verified_at: ${NOW}`,
    'verified_by: "Ada #2"',
    'meets: ["a: b", c]',
    'accepted: Known',
  ])
  const again = countedProof(accepted, none, { ...verification, meets: [], accepted: null })
  t.ok(fieldsOf(again).includes('accepted:'), 'a reason that no longer applies')
  t.equal(countedProof(accepted, none, null), accepted, 'counting leaves the verification')
  t.match(
    newProofText({ ...PROOF, image: PICTURE }, ''),
    /\nimage: \{ name: p1\.png.*\nverified: false\nverified_at:\n---\n\n!\[.*\]\(\.\.\/artifacts\/p1\.png\)\n$/,
  )
})

t.test('the fields of a proof that a person wrote', async (t) => {
  const rows: [fields: string, value: object, codes?: string[]][] = [
    ['type: trace', { type: 'trace', verified: false, intact: true, stamped: false, tests: null }],
    ['title: x', { type: 'log' }],
    ['verified: true', { verified: true }],
    ['verified: yes', { verified: false }, ['wrong_type']],
    ['exit_code: 3', { exit_code: 3 }],
    ['exit_code: 3.5', { exit_code: null }, ['wrong_type']],
    ['accepted: "  Known "', { accepted: 'Known' }],
    ['accepted: "  "', { accepted: null }],
    ['tests: { run: 0, passed: 0, failed: 0 }', { tests: { run: 0 } }],
    ['tests: { run: 2, passed: 2, failed: 0 }', { tests: null }],
    ['tests: { run: 2 }', {}, ['wrong_type']],
    ['flaky_tests: [a, b]', { flaky_tests: ['a', 'b'] }],
    ['flaky_tests: a', { flaky_tests: [] }, ['wrong_type']],
    [
      'failed_tests: [{ name: a, line: 3 }]',
      { failed_tests: [{ name: 'a', line: 3, file: null }] },
    ],
    ['failed_tests: [{ line: 3 }]', { failed_tests: [] }, ['wrong_type']],
    ['session_id: x', {}, ['wrong_type']],
    ['id: other', {}, ['id_mismatch']],
  ]
  for (const [fields, value, codes = []] of rows) {
    const found = read(fields)
    t.strictSame(
      found.problems.map(({ code }) => code),
      codes,
      fields,
    )
    if (found.value) t.match(found.value, value, fields)
  }
  const whole = read('tests: { run: 2, passed: 1, failed: 1 }', TAP).value
  t.strictSame(whole?.tests, { run: 2, passed: 1, failed: 1 })
  const report = 'tests: { run: 2, passed: 1, failed: 1, flaky: 1, incomplete: true }'
  t.match(read(report, TAP).value, {
    tests: { run: 2, flaky: 1, incomplete: true },
    uncounted: true,
  })
  t.match(read('type: log', TAP).value, { tests: null, uncounted: true })
  t.match(read('type: log', '<TestRun id="7">').value, { unread: 'TRX', uncounted: false })
  t.match(read('type: log', 'diff --git a/a b/a\n').value, { is_diff: true })
  t.match(read('type: log', ' ').value, { empty: true })
})

t.test('a picture is complete, or none', async (t) => {
  const image = (parts: object) =>
    readProof(`---\nimage: ${JSON.stringify({ ...PICTURE, ...parts })}\n---\n`, ORIGIN)
  t.match(image({}).value, { image: PICTURE, empty: false, is_diff: false, intact: true })
  for (const parts of [{ name: 'p2.png' }, { type: 'image/svg' }, { width: 0 }, { bytes: 1.5 }]) {
    const { value, problems } = image(parts)
    t.match(
      [value?.image ?? null, problems],
      [null, [{ code: 'wrong_type' }]],
      JSON.stringify(parts),
    )
  }
})

t.test('text outside the fence is no part of the proof', async (t) => {
  const lines = (text: string) =>
    readProof(text, ORIGIN).problems.map(({ code, line }) => `${code} ${line}`)
  t.strictSame(lines('# Log\n\n```\nok\n```\n'), ['outside_fence 1'])
  t.strictSame(lines('```\nok\n```\n\nmore\n'), ['outside_fence 5'])
  t.strictSame(lines('```\nok\n```\n'), [])
  t.strictSame(lines('no fence\n'), [])
})

t.test('a summary above the fence names the artifact, and is no part of the content', async (t) => {
  const session = { number: 1 }
  const tests = { run: 23, passed: 23, failed: 0 }
  const patch = 'diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n'
  const parts = { tests: null, is_diff: false, artifact: undefined, type: 'operator-note' }
  t.equal(proofSummary({ ...parts, tests }, '', null), '23 of 23 tests passed')
  t.equal(
    proofSummary({ ...parts, is_diff: true, artifact: '1-changes.patch' }, patch, session),
    '1 file, +1 −1 · 1-changes.patch · session 1',
  )
  t.equal(proofSummary(parts, 'I looked', session), 'operator-note · session 1')
  t.equal(proofSummary(parts, 'I looked', null), '')
  const summary = proofSummary({ ...parts, tests, artifact: '1-test.tap' }, TAP, session)
  const sha256 = contentHash(TAP)
  const text = newProofText({ ...PROOF, ...COUNTED, sha256 }, TAP, summary)
  t.match(text, /\n---\n\n23 of 23 tests passed · 1-test\.tap · session 1\n\n```text\n/)
  const whole = readProof(text, ORIGIN)
  t.match(whole, { content: TAP, problems: [], value: { artifact: '1-test.tap', intact: true } })
  const edited = readProof(text.replace(summary, 'As I said.'), ORIGIN)
  t.match(edited, { content: TAP, problems: [], value: { artifact: undefined, intact: true } })
  t.match(readProof(text.replace(summary, 'One.\nTwo.'), ORIGIN).problems, [
    { code: 'outside_fence' },
  ])
})
