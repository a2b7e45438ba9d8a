import t from 'tap'
import type { CaseContents } from '../../src/model/case-contents.ts'
import { newest, proofOf } from '../../src/model/case-contents.ts'
import {
  attachProof,
  sessionForProof,
  stampProof,
  verifyProof,
} from '../../src/model/decide-proof.ts'
import { proofGate, reportedState } from '../../src/model/gate.ts'
import type { Counted, Proof } from '../../src/model/proof.ts'
import { acceptedDespite, objectionTo } from '../../src/model/proof-objections.ts'
import { artifactType, isDiff, shownType, typeByName } from '../../src/model/proof-type.ts'
import type { Session } from '../../src/model/session.ts'
import { baselineStepsOf, endOf, stepsOf, workStepsOf } from '../../src/model/trail-steps.ts'
import { CASE, PROOF, SESSION } from '../fixtures/records.ts'
import { folderWith, minute, trailOf } from '../fixtures/trail-of.ts'

const NOW = minute(30)
const PASSED = { run: 2, passed: 2, failed: 0 }
const proof = (parts: Partial<Proof> = {}): Proof => ({
  ...PROOF,
  session_id: null,
  tests: PASSED,
  verified: true,
  verified_at: minute(1),
  verified_by: 'Grace',
  ...parts,
})
const session = (parts: Partial<Session> = {}): Session => ({
  ...SESSION,
  state: 'complete',
  ...parts,
})
const named = (name: string) => ({ name, message: null, file: null, line: null })

const TRAIL = trailOf(
  ['step_started', { step: 'plan' }],
  ['step_finished', { step: 'plan', exit: 0 }],
  ['plan_approved'],
  ['step_started', { step: 'unit-before', proof: 'tap', baseline: true }],
  ['step_finished', { step: 'unit-before', exit: 1 }],
  ['step_started', { step: 'unit', proof: 'tap', report: '2-unit-1.tap' }],
  ['step_finished', { step: 'unit', exit: 0, log_sha256: 'log of unit' }],
  ['step_started', { step: 'lint', proof: 'test', log: '3-lint.log' }],
  ['step_finished', { step: 'lint', exit: 3, duration_ms: 1500, log_sha256: 'log of lint' }],
  ['step_started', { step: 'say' }],
  ['step_finished', { step: 'say', exit: 0, output_bytes: 0 }],
  ['step_started', { step: 'unit', proof: 'tap' }],
)

t.test('steps of a trail, and the artifacts that they left', async (t) => {
  const names = (steps: ReturnType<typeof stepsOf>) =>
    steps.map(({ id, artifacts: { log, report } }) => `${id}: ${log} ${report}`)
  t.strictSame(names(workStepsOf(2, TRAIL)), [
    'unit: 2-unit.log 2-unit.tap',
    'lint: 2-lint.log null',
    'say: null null',
  ])
  t.strictSame(names(baselineStepsOf(2, TRAIL)), [
    'unit-before: 2-unit-before.log 2-unit-before.tap',
  ])
  t.equal(stepsOf(2, TRAIL)[2]?.artifacts.report, '2-unit-1.tap', 'where the usual name was taken')
  const silent = trailOf(
    ['step_started', { step: 'a', proof: 'tap' }],
    ['step_finished', { step: 'a', output_bytes: 0 }],
    ['step_started', { step: 'b', proof: 'tap' }],
    ['step_finished', { step: 'b', output_bytes: 5, report_bytes: 0 }],
  )
  t.strictSame(names(stepsOf(2, silent)), ['a: null null', 'b: 2-b.log null'])
  const end = (fields: object) =>
    endOf(
      stepsOf(
        1,
        trailOf(
          ['step_started', { step: 'a' }],
          ['step_finished', { step: 'a', duration_ms: 1500, ...fields }],
        ),
      )[0]!,
    )
  t.equal(endOf(stepsOf(1, trailOf(['step_started', { step: 'a' }]))[0]!), 'not finished')
  t.equal(end({ exit: 3 }), 'failed with exit 3, 1.5 s')
  t.equal(end({ exit: 3, expected: true }), 'exit 3, 1.5 s')
  t.equal(end({ exit: null, signal: 'SIGKILL' }), 'ended by SIGKILL after 1.5 s')
  t.equal(end({ exit: null, signal: null }), 'stopped before it started')
  t.equal(end({ exit: null, timed_out: true, signal: 'SIGTERM' }), 'timed out after 1.5 s')
  t.match(end({ exit: null, ended_by_service: true }), /ended by the service/)
  t.equal(end({ start_error: 'ENOENT' }), 'could not be started: ENOENT')
})

t.test('what a content is, whatever it is called', async (t) => {
  const diffs = [
    'diff --git a/a b/a\n',
    '\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n',
    'Index: x\n--- x\r\n+++ x\r\n@@ -1 +1 @@\r\n',
    'commit 0123abc\n\ndiff --git a/a b/a\n',
  ]
  for (const text of diffs) t.ok(isDiff(text), text)
  for (const text of ['ok\ndiff --git a/a b/a\n', '--- a\n', '--- a\n+++ b\n', 'commit to it', ''])
    t.notOk(isDiff(text), text)
  const names = [
    'a.tap',
    'a.XML',
    'a.jsonl',
    'a.patch',
    'a.diff',
    'a.png',
    'a.jpeg',
    'a.jpg',
    'a.log',
    'tap',
    'a.json',
  ]
  t.equal(
    names.map(typeByName).join(' '),
    'test-log test-log test-log diff diff screenshot screenshot screenshot log log log',
  )
  const content = {
    image: null,
    is_diff: false,
    tests: null,
    unread: null,
    sha256: 'x',
    session_id: null,
  }
  const picture = { kind: 'png', width: 1, height: 1 } as never
  const ran = [session({ trail: TRAIL })]
  const rows: [parts: object, type: string][] = [
    [{}, 'log'],
    [{ tests: PASSED }, 'test-log'],
    [{ unread: 'TRX' }, 'test-log'],
    [{ is_diff: true, tests: PASSED }, 'diff'],
    [{ image: picture, is_diff: true }, 'screenshot'],
    [{ sha256: 'log of lint' }, 'test-log'],
    [{ sha256: 'log of unit' }, 'log'],
    [{ sha256: 'log of lint', session_id: 'another' }, 'log'],
  ]
  for (const [parts, type] of rows)
    t.equal(shownType({ ...content, ...parts }, ran), type, JSON.stringify(parts))
  const artifacts: [artifact: string, note: string, type: string][] = [
    ['2-unit.log', '', 'test-log'],
    ['2-lint.log', '', 'test-log'],
    ['2-say.log', '', 'log'],
    ['x.log', '2 of 2 tests passed', 'test-log'],
    ['x.log', '1 of 1 test failed', 'test-log'],
    ['x.log', 'no tests ran', 'test-log'],
    ['x.patch', '2 of 2 tests passed', 'diff'],
    ['x.log', 'I passed', 'log'],
  ]
  for (const [artifact, note, type] of artifacts)
    t.equal(
      artifactType({ number: 2, trail: TRAIL }, { artifact, note }),
      type,
      `${artifact} ${note}`,
    )
})

t.test('why a proof does not support its claim', async (t) => {
  const failing = { run: 3, passed: 1, failed: 2 }
  const violation = trailOf([
    'plan_violation',
    { working_folder: ['a.js'], copy: ['a.js'], replaced: ['b.js'] },
  ])
  const of = (parts: Partial<Session>) => [session({ id: 's1', ...parts })]
  const rows: [
    name: string,
    parts: Partial<Proof>,
    sessions: Session[],
    code: string | null,
    text?: string,
  ][] = [
    ['a report that passes', {}, [], null],
    ['changed', { intact: false }, [], 'changed', 'its content was changed'],
    ['empty', { empty: true, type: 'log', tests: null }, [], 'empty'],
    ['not counted', { uncounted: true }, [], 'not_counted'],
    ['failed', { tests: failing }, [], 'tests_failed', '2 of 3 tests failed'],
    [
      'failed, with names',
      { tests: { ...failing, failed: 7 }, failed_tests: [...'abcdef'].map(named) },
      [],
      'tests_failed',
      '7 of 3 tests failed: a, b, c, d, e and 2 more',
    ],
    [
      'failed, with all names but one',
      { tests: failing, failed_tests: [named('a')] },
      [],
      'tests_failed',
      '2 of 3 tests failed: a and 1 more',
    ],
    [
      'one of one',
      { tests: { run: 1, passed: 0, failed: 1 }, failed_tests: [named(' a\nb ')] },
      [],
      'tests_failed',
      '1 of 1 test failed: a b',
    ],
    ['incomplete', { tests: { ...PASSED, incomplete: true } }, [], 'incomplete'],
    ['of another program', { tests: null, unread: 'TRX' }, [], 'unread_report'],
    ['nothing ran', { tests: { run: 3, passed: 0, failed: 0 } }, [], 'nothing_ran'],
    [
      'of a failed session',
      { session_id: 's1' },
      of({ state: 'failed', number: 4 }),
      'session_failed',
      'it comes from session 4, which failed',
    ],
    [
      'of one that failed, and another did not',
      { session_id: 's1' },
      [...of({}), session({ id: 's2', state: 'failed' })],
      null,
    ],
    [
      'of one that changed files before',
      { session_id: 's1' },
      of({ number: 4, trail: violation }),
      'plan_violation',
      'it comes from session 4, where 2 files changed before the plan was approved: a.js, b.js',
    ],
    ['an exit code', { exit_code: 1 }, [], 'exit_code'],
    ['an exit code of 0', { exit_code: 0 }, [], null],
    [
      'a log as test log',
      { tests: null },
      [],
      'other_type',
      'it is neither a test report that was counted nor the log of a test step',
    ],
    [
      'a diff as log',
      { type: 'log', tests: null, is_diff: true },
      [],
      'other_type',
      'it is a diff, which is no log',
    ],
    ['a text as diff', { type: 'diff', tests: null }, [], 'other_type', 'it is no diff'],
    [
      'a text as picture',
      { type: 'screenshot', tests: null },
      [],
      'other_type',
      'it is no picture',
    ],
    ['any other word', { type: 'operator-note', tests: null }, [], null],
    [
      'the log of a test step that failed',
      { tests: null, sha256: 'log of lint' },
      [session({ trail: TRAIL })],
      'exit_code',
      'its step did not succeed: failed with exit 3, 1.5 s',
    ],
    [
      'two things',
      { tests: failing, exit_code: 1 },
      [],
      'tests_failed',
      '2 of 3 tests failed, and the step ended with exit code 1',
    ],
    ['accepted', { tests: failing, accepted: 'Known' }, [], null],
    ['accepted, and changed', { intact: false, accepted: 'Known' }, [], 'changed'],
    ['accepted, and empty', { empty: true, accepted: 'Known' }, [], 'empty'],
    ['accepted, and not counted', { uncounted: true, accepted: 'Known' }, [], 'not_counted'],
  ]
  for (const [name, parts, sessions, code, text] of rows) {
    const found = objectionTo(proof(parts), sessions)
    t.equal(found?.code ?? null, code, name)
    if (text !== undefined) t.equal(found?.text, text, name)
  }
  t.equal(acceptedDespite(proof({ tests: failing, accepted: 'x' }), []), '2 of 3 tests failed')
  t.equal(acceptedDespite(proof({ accepted: 'x' }), []), null)
  t.equal(acceptedDespite(proof({ tests: failing }), []), null)
})

t.test('the gate opens by a proof that counts, of each type that is required', async (t) => {
  const item = (type: string | null, required = true) => ({
    description: `D ${type}`,
    type,
    required,
    checked: true,
  })
  const bad = proof({ id: 'bad', tests: { run: 2, passed: 0, failed: 2 } })
  const rows: [
    name: string,
    items: ReturnType<typeof item>[],
    proofs: Proof[],
    missing: (string | RegExp)[],
  ][] = [
    ['nothing', [], [], ['at least one verified proof']],
    ['one', [], [proof()], []],
    ['not verified', [], [proof({ verified: false })], ['at least one verified proof']],
    [
      'changed',
      [],
      [proof({ intact: false })],
      [/^at least one verified proof \(proof p1: its content was changed\. To continue, read it/],
    ],
    ['a required type', [item('log')], [proof()], ['a verified proof of type log for "D log"']],
    ['an optional type', [item('log', false)], [proof()], []],
    ['one for two items', [item('test-log'), item('test-log')], [proof()], []],
    ['an item without a type', [item(null)], [proof()], [/^a proof type for "D null"/]],
    [
      'the objection stands at its item',
      [item('test-log')],
      [bad],
      ['at least one verified proof', /for "D test-log" \(proof bad: 2 of 2/],
    ],
    [
      'many objections',
      [],
      ['1', '2', '3', '4'].map((id) => ({ ...bad, id })),
      [/\(proof 4: .*; proof 3: .*; proof 2: .*; and 1 more\. To/],
    ],
  ]
  for (const [name, items, proofs, missing] of rows) {
    const gate = proofGate(items, proofs, [])
    t.equal(gate.missing.length, missing.length, name)
    t.match(gate.missing, missing, name)
    t.equal(gate.open, missing.length === 0, name)
    t.equal(reportedState('RESOLVED', gate), gate.open ? 'RESOLVED' : 'VERIFYING')
    t.equal(reportedState('OPEN', gate), 'OPEN')
  }
  const gate = proofGate(
    [item('test-log', false)],
    [proof({ id: 'x', verified: false }), proof()],
    [],
  )
  t.match(gate, {
    verified: 1,
    items: [{ satisfied_by: 'p1' }],
    objections: [{ id: 'x', code: 'not_verified' }],
  })
})

const COUNTED: Counted = {
  sha256: 'new',
  image: null,
  tests: null,
  failed_tests: [],
  flaky_tests: [],
  unread: null,
}
const content = { content: 'x', picture: null, counted: COUNTED, exit_code: null, id: 'p9' }

t.test('a proof is attached to the newest session that waits for one, and seals it', async (t) => {
  const at = (id: string, parts: Partial<Session>) =>
    session({ id, trail: trailOf(['x']), ...parts })
  const sessions = [
    at('a', { number: 1, started_at: minute(2) }),
    at('b', { number: 2, started_at: minute(1) }),
    at('c', { number: 3, started_at: minute(3) }),
    at('d', { number: 4, started_at: minute(4), state: 'executing' }),
    at('e', {
      number: 5,
      started_at: minute(4),
      state: 'failed',
      trail: trailOf(['session_sealed']),
    }),
    at('f', { number: 6, state: 'plan_ready' }),
  ]
  const folder = folderWith({ sessions, proofs: [proof({ session_id: 'c' })] })
  t.equal(sessionForProof(folder, undefined)?.id, 'a')
  t.equal(sessionForProof(folder, null), null)
  t.equal(sessionForProof(folderWith(), undefined), null)
  for (const id of ['d', 'f']) t.throws(() => sessionForProof(folder, id), { code: 'wrong_state' })
  t.throws(() => sessionForProof(folder, 'x'), { code: 'not_found' })
  const edits = attachProof(folder, { ...content, type: null }, NOW)
  t.match(edits, [
    {
      file: 'new-proof',
      proof: { id: 'p9', type: 'log', session_id: 'a', created_at: NOW, verified: false },
    },
    {
      file: 'session',
      number: 1,
      edit: {
        seal: { time: NOW },
        lines: [
          { number: 2, event: 'proof_attached', fields: { proof_id: 'p9', proof_type: 'log' } },
        ],
      },
    },
  ])
  t.equal(attachProof(folder, { ...content, type: 'trace', session_id: 'e' }, NOW).length, 1)
  t.match(attachProof(folder, { ...content, type: null, content: 'diff --git a/a b/a\n' }, NOW), [
    { proof: { type: 'diff', is_diff: true } },
    {},
  ])
})

function verified(
  parts: Partial<Proof>,
  accept: string | null = null,
  counted = COUNTED,
  checklist: CaseContents['case']['checklist'] = [],
) {
  const folder: CaseContents = folderWith({
    case: { ...CASE, checklist },
    proofs: [proof({ sha256: 'new', tests: null, ...parts })],
  })
  return verifyProof(folder, 'p1', { counted, accept, by: 'Ada', now: NOW })
}

t.test('what a verification writes', async (t) => {
  const [first, now] = [
    { verified_at: minute(1), verified_by: 'Grace' },
    { verified_at: NOW, verified_by: 'Ada' },
  ]
  const rows: [
    name: string,
    parts: Partial<Proof>,
    accept: string | null,
    wanted: object | null,
  ][] = [
    ['the first', { verified: false, verified_at: null }, null, { ...now, accepted: null }],
    ['again', {}, null, null],
    ['again, not stamped', { stamped: false }, null, { ...first, accepted: null }],
    ['a reason is a verification', {}, 'Known', { ...now, accepted: 'Known' }],
    ['with the same reason', { accepted: 'Known' }, 'Known', null],
    ['with another', { accepted: 'Known' }, 'New', { ...now, accepted: 'New' }],
    [
      'of a changed content',
      { intact: false, accepted: 'Known' },
      null,
      { ...now, accepted: null },
    ],
    [
      'not verified yet, with a reason',
      { verified: false, accepted: 'Known' },
      null,
      { ...now, accepted: 'Known' },
    ],
  ]
  for (const [name, parts, accept, wanted] of rows) {
    const edits = verified(parts, accept)
    t.strictSame(
      edits.map((each) => 'verification' in each && each.verification),
      wanted ? [{ ...wanted, meets: [] }] : [],
      name,
    )
  }
  const item = { description: 'Tests', type: PROOF.type, required: true, checked: false }
  const checklist = [item, { ...item, description: 'Fast' }, { ...item, type: 'trace' }]
  const meets = (parts: Partial<Proof>) =>
    verified(parts, null, { ...COUNTED, tests: PASSED }, checklist)
  t.match(meets({ verified: false }), [{ verification: { meets: ['Tests', 'Fast'] } }])
  t.match(meets({ verified: false, exit_code: 1 }), [{ verification: { meets: [] } }])
  t.throws(() => verified({ empty: true }, 'Known'), { code: 'bad_request' })
  t.doesNotThrow(() => verified({ empty: true }))
  t.throws(() => proofOf(folderWith(), 'p1'), { code: 'not_found' })
  const none = { run: 0, passed: 0, failed: 0 }
  t.match(
    verified({ verified: false, tests: none }),
    [{ counted: { tests: none } }],
    'a report that is missing',
  )
  t.match(verified({ verified: false, tests: none, intact: false }), [{ counted: { tests: null } }])
})

t.test('what a person wrote into a proof is counted, what is right stays', async (t) => {
  const stamp = (parts: Partial<Proof>, counted: Partial<Counted> = {}) => {
    const folder = folderWith({ proofs: [proof({ sha256: 'new', tests: null, ...parts })] })
    return stampProof(folder, 'p1', { ...COUNTED, ...counted }).length
  }
  t.equal(stamp({}), 0)
  t.equal(stamp({ stamped: false }), 1)
  t.equal(stamp({ stamped: false, verified: false }), 0)
  t.equal(stamp({ uncounted: true, verified: false }), 1)
  t.equal(stamp({ sha256: 'old', uncounted: true }), 0)
  t.equal(stamp({ tests: PASSED }), 1, 'counts that the content does not have')
  t.equal(stamp({ tests: PASSED }, { tests: PASSED }), 0)
  for (const part of [{ run: 3 }, { failed: 1 }, { flaky: 1 }, { incomplete: true as const }])
    t.equal(stamp({ tests: PASSED }, { tests: { ...PASSED, ...part } }), 1, JSON.stringify(part))
})

t.test('the newest is the one that was created last, by its id among equals', async (t) => {
  const at = (id: string, count: number) => ({ id, created_at: minute(count) })
  t.equal(newest([at('a', 2), at('b', 1)])?.id, 'a')
  t.equal(newest([at('b', 1), at('a', 1)])?.id, 'b')
  t.equal(newest([]), undefined)
})
