import t from 'tap'
import { recordedBase, testsBefore } from '../../src/model/before-run.ts'
import {
  baseLine,
  comparedText,
  isWorse,
  namesText,
  readCompared,
  testsBeforeLine,
  testsBeforeText,
  testsComparedLine,
} from '../../src/model/before-run-text.ts'
import { isPlanUnchanged, planRevisions, revisionNumber } from '../../src/model/plan-revisions.ts'
import {
  foldRefused,
  MAX_REFUSED,
  refusedActions,
  refusedCount,
} from '../../src/model/refused-actions.ts'
import { outOfScopeFiles, outOfScopeText, scopeLines } from '../../src/model/scope.ts'
import { failedStep, failureText, wasStopped } from '../../src/model/session-failure.ts'
import { resultEntry, sessionResults } from '../../src/model/session-results.ts'
import { minute, movesOf, trailOf } from '../fixtures/trail-of.ts'

type Lines = Parameters<typeof trailOf>

t.test('the state of the working folder before a run, in words', async (t) => {
  const base = { commit: '4f2c1d9e77', branch: 'main', uncommitted: 0, files: [], left_by: [] }
  const left = { case_id: 'c', number: 2, title: 'T', files: 3 }
  const rows: [fields: object, text: string][] = [
    [base, 'branch main at 4f2c1d9e, everything was committed'],
    [
      { ...base, branch: null, commit: null },
      'no branch, without a commit, everything was committed',
    ],
    [
      { ...base, uncommitted: 1, files: ['a'] },
      'branch main at 4f2c1d9e, 1 file was not committed: a',
    ],
    [
      { ...base, uncommitted: 4, files: [...'abcd'] },
      'branch main at 4f2c1d9e, 4 files were not committed: a, b, c and 1 more',
    ],
    [
      { ...base, uncommitted: 1, is_cut: true, files: ['a'] },
      'branch main at 4f2c1d9e, more than 1 files were not committed: a',
    ],
    [
      { ...base, uncommitted: 3, files: [...'abc'], left_by: [left, { number: 'x' }, null] },
      'branch main at 4f2c1d9e, 3 files were not committed: a, b, c; 3 from session 2 of “T”',
    ],
    [{ reason: 'no git' }, 'what was not committed is not known: no git'],
    [{}, 'what was not committed is not known: no reason is recorded'],
  ]
  for (const [fields, text] of rows) t.equal(baseLine(fields as Record<string, unknown>), text)
  t.equal(recordedBase(trailOf(['x'])), null)
  t.match(
    recordedBase(trailOf(['base_recorded', { ...base, uncommitted: 9 }], ['base_recorded', base])),
    { uncommitted: 0 },
  )
  t.equal(namesText(['a', 'b'], 5), 'a, b and 3 more')
  t.equal(namesText([]), '')
})

const compared = (parts: object = {}) =>
  readCompared({ run: 4, failed: 1, fixed: 1, names: { fixed: ['f'] }, ...parts })

t.test('tests before and after a run', async (t) => {
  const trail = trailOf(
    ['tests_before', { step: 'old', run: 9, passed: 9, failed: 0 }],
    ['plan_approved'],
    ['tests_before', { step: 'a', run: 4, passed: 2, failed: 2, failing: ['f', 'g'] }],
    ['tests_before', { step: 'b', reason: 'no report' }],
    [
      'tests_compared',
      { run: 4, failed: 1, fixed: 1, still: 1, names: { fixed: ['f'], still: ['g'] } },
    ],
    ['tests_compared', { run: 2, failed: 1, broken: 1, names: { broken: ['h'] }, is_cut: true }],
  )
  const found = testsBefore(trail)!
  t.match(found, {
    run: 4,
    passed: 2,
    failed: 2,
    failing: ['f', 'g'],
    steps: [{ step: 'a' }, { tests: null }],
  })
  t.match(found.compared, {
    run: 6,
    failed: 2,
    fixed: 1,
    still: 1,
    broken: 1,
    added: 0,
    names: { fixed: ['f'], broken: ['h'] },
    is_cut: true,
  })
  t.equal(
    testsBeforeText(found),
    'before: 2 of 4 failed (f, g), b: no report; after: 2 of 6 failed',
  )
  t.equal(
    comparedText(found.compared!),
    '1 fixed (f), 1 still failing (g), 1 newly failing (h), not all tests were compared by name',
  )
  t.equal(testsBefore(trail.slice(0, 2)), null)
  t.equal(testsBefore(trail.slice(0, 3))?.compared, null)
  t.equal(
    comparedText(compared({ added: 2, gone: 1 })),
    '1 fixed (f), 2 new and failing, 1 failed before and did not run now',
  )
  for (const kind of ['broken', 'added', 'gone']) t.ok(isWorse(compared({ [kind]: 1 })), kind)
  t.notOk(isWorse(compared({ still: 1 })))
  t.equal(testsComparedLine({}), 'compared with before: no test failed before or fails now')
  t.equal(
    testsBeforeLine({ step: 'a', run: 1, passed: 1, failed: 0 }),
    'before the work, 0 of 1 test of a failed',
  )
  t.equal(
    testsBeforeLine({ step: 'a', reason: 'no' }),
    'before the work, the tests of a are not known: no',
  )
  const none = testsBefore(trailOf(['tests_before', { step: 'a', run: 0, passed: 0, failed: 0 }]))!
  t.equal(testsBeforeText(none), 'before: no tests ran')
})

t.test('the revisions of a plan', async (t) => {
  const back = [
    'session_state_changed',
    { old_state: 'plan_ready', new_state: 'planning', reason: 'No.' },
  ] as Lines[0]
  const trail = trailOf(
    ['plan_written', { sha256: 'a' }],
    back,
    ['plan_written', { sha256: 'b' }],
    ['plan_edited', { by: 'request', sha256: 'c' }],
    ['plan_edited', { by: 'hand', sha256: 'd' }],
    ['plan_approved', { plan_sha256: 'd', plan: 'D' }],
    ['plan_approved', { plan_sha256: 'e', plan: 'E' }],
  )
  t.strictSame(
    planRevisions(trail).map(({ plan_sha256, by, note, text }) =>
      [plan_sha256, by, note, text].join(),
    ),
    ['a,provider,,', 'b,provider,No.,', 'c,request,,', 'd,hand,,D', 'e,hand,,E'],
  )
  t.equal(planRevisions(trail)[3]?.at, minute(4))
  t.equal(revisionNumber(trail), 2)
  const withdrawn = movesOf('plan_ready', 'approved')
  const rows: [Lines, boolean][] = [
    [[['plan_written', { sha256: 'a' }], back, ['plan_written', { sha256: 'a' }]], true],
    [[['plan_written', { sha256: 'a' }], back, ['plan_written', { sha256: 'b' }]], false],
    [
      [
        ['plan_written', { sha256: 'a' }],
        ['plan_edited', { sha256: 'b' }],
        back,
        ['plan_written', { sha256: 'a' }],
      ],
      false,
    ],
    [
      [
        ['plan_written', { sha256: 'a' }],
        ['plan_written', { sha256: 'a' }],
      ],
      false,
    ],
    [[['plan_written', { sha256: 'a' }], back], false],
    [[['plan_written', { sha256: 'a' }], ...withdrawn, ['plan_written', { sha256: 'a' }]], false],
  ]
  for (const [lines, isSame] of rows) t.equal(isPlanUnchanged(trailOf(...lines)), isSame)
})

t.test('what an agent was denied, while planning and at work', async (t) => {
  const denied = (title: string): Lines[0] => ['denied', { tool: 'Write', title, reason: 'r' }]
  const trail = trailOf(
    denied('a'),
    ['notes_unlisted', { denied: 3 }],
    ['plan_approved'],
    denied('b'),
    ['denied'],
    ['notes_unlisted', { denied: 2 }],
  )
  const { plan, work, first } = refusedActions(trail)
  t.strictSame([plan, work], [4, 4])
  t.strictSame(
    first.map(({ mode, tool, action }) => `${mode} ${tool} ${action}`),
    ['work Write b', 'work a tool null', 'plan Write a'],
    'those of the work first, each once',
  )
  const many = trailOf(...Array.from({ length: MAX_REFUSED + 1 }, (_, n) => denied(`${n}`)))
  t.equal(refusedActions(many).first.length, MAX_REFUSED)
  t.equal(refusedActions(many).plan, MAX_REFUSED + 1)
  const same = { tool: 'W', action: 'a', reason: 'r' }
  t.strictSame(
    foldRefused([same, { ...same, reason: 's' }, same]).map(({ times }) => times),
    [2, 1],
  )
  t.strictSame([0, 1, 2].map(refusedCount), ['', '1 action was denied', '2 actions were denied'])
})

t.test('the scope, and what is outside of it', async (t) => {
  t.strictSame(scopeLines({ paths: ['a', 'b'], commands: [] }), ['paths: a, b', 'commands: none'])
  t.strictSame(scopeLines({ paths: null, commands: null }), [])
  const trail = trailOf(
    ['out_of_scope', { files: ['x'] }],
    ['out_of_scope', { files: ['a', 7], more: 2 }],
  )
  t.equal(outOfScopeText(trail), '3 files outside the scope changed')
  t.strictSame(outOfScopeFiles(trail), ['a'])
  t.equal(outOfScopeText([]), '')
})

t.test('why a session failed, and in which step', async (t) => {
  const failed = (reason: string): Lines[0] => [
    'session_state_changed',
    { new_state: 'failed', reason },
  ]
  const text = (reason: string, tests: Parameters<typeof failureText>[0]['tests'] = null) =>
    failureText({ trail: trailOf(failed(reason)), tests })
  t.equal(text('The run stopped: step a\n exited. '), 'step a exited')
  t.equal(text('No.', { run: 1, passed: 0, failed: 1 }), 'No; 1 of 1 test failed')
  t.equal(text('No.', { run: 2, passed: 2, failed: 0 }), 'No')
  t.equal(text('x'.repeat(161)).length, 160)
  t.equal(text('x'.repeat(160)), 'x'.repeat(160))
  t.ok(
    wasStopped({
      trail: trailOf(failed('The service was stopped while the session was executing. Go on.')),
    }),
  )
  t.notOk(wasStopped({ trail: trailOf(failed('The service stopped it.')) }))
  const start = (step: string): Lines[0] => ['step_started', { step }]
  const end = (fields: object): Lines[0] => ['step_finished', { step: 'a', tail: 'T', ...fields }]
  const rows: [name: string, lines: Lines, step: string | null][] = [
    ['no step', [failed('x')], null],
    ['it did not end', [start('a'), failed('x')], 'a'],
    ['it failed', [start('a'), end({ exit: 1 }), failed('x')], 'a'],
    ['it took too long', [start('a'), end({ exit: 0, timed_out: true }), failed('x')], 'a'],
    ['it succeeded', [start('a'), end({ exit: 0 }), failed('x')], null],
    ['it is named', [start('a'), end({ exit: 0 }), failed('step a left files')], 'a'],
    [
      'another that begins like it is named',
      [start('a'), end({ exit: 0 }), failed('step ab failed')],
      null,
    ],
    [
      'the last one counts',
      [start('b'), ['step_finished', { step: 'b', exit: 1 }], start('a'), end({ exit: 1 })],
      'a',
    ],
  ]
  for (const [name, lines, step] of rows)
    t.equal(failedStep(trailOf(...lines))?.id ?? null, step, name)
  t.equal(failedStep(trailOf(start('a'), end({ exit: 1 })))?.tail, 'T')
})

t.test('the results of a session say what commits can be compared with', async (t) => {
  const object = 'a'.repeat(40)
  const entry = resultEntry('a b.ts', { object, change: null })
  t.equal(entry, `${'a'.repeat(20)} - a b.ts`)
  const results = [entry, resultEntry('gone', { object: null, change: object }), 'nonsense']
  t.strictSame(sessionResults({ trail: trailOf(['diff_taken', { results }]) }), {
    files: new Map([
      ['a b.ts', { object: 'a'.repeat(20), change: null }],
      ['gone', { object: null, change: 'a'.repeat(20) }],
    ]),
    isCut: false,
  })
  t.equal(
    sessionResults({ trail: trailOf(['diff_taken', { results: [], results_cut: true }]) })?.isCut,
    true,
  )
  t.equal(sessionResults({ trail: trailOf(['diff_taken']) }), null)
})
