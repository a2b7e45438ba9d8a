import t from 'tap'
import { type CaseContents, shownState } from '../../src/model/case-contents.ts'
import { caseJson } from '../../src/model/case-json.ts'
import { findCasesByName } from '../../src/model/case-names.ts'
import { answerQuestion } from '../../src/model/decide-answer.ts'
import { addItem, newCase, setState, updateCase } from '../../src/model/decide-case.ts'
import { listKey } from '../../src/model/list-order.ts'
import { isMemoryName, isNoteName, isRecordName } from '../../src/model/memory-name.ts'
import { parseDuration } from '../../src/model/name-patterns.ts'
import { outcomeLabel, outcomeTone } from '../../src/model/outcomes.ts'
import type { Session } from '../../src/model/session.ts'
import { triageRow } from '../../src/model/triage-row.ts'
import { nextCauses, waitingOf } from '../../src/model/waiting.ts'
import { CASE, CASE_ID, PROOF, SESSION } from '../fixtures/records.ts'
import { folderWith, minute, movesOf, trailOf } from '../fixtures/trail-of.ts'

const VERIFIED = { ...PROOF, type: 'log', verified: true, verified_at: minute(2), session_id: null }
const item = { description: 'Logs', type: 'log', required: true, checked: false }
const at = (state: string, parts: Partial<CaseContents> = {}) =>
  folderWith({ ...parts, case: { ...CASE, state: state as 'OPEN', ...parts.case } })

t.test('a new case has the values that were given, and the defaults', async (t) => {
  const made = newCase({ title: 'A', tags: ['x'] }, 'id', minute(0), [
    { description: 'D', type: 'log' },
    { description: 'E', type: 'diff', required: true },
  ])
  t.match(made, {
    id: 'id',
    title: 'A',
    type: 'bug',
    state: 'OPEN',
    outcome: null,
    tags: ['x'],
    description: '',
    checklist: [
      { description: 'D', type: 'log', required: false, checked: false },
      { description: 'E', required: true },
    ],
  })
  t.not(newCase({ title: 'A' }, 'a', '').tags, newCase({ title: 'A' }, 'b', '').tags)
})

t.test('an update writes what differs', async (t) => {
  t.strictSame(updateCase(folderWith(), { title: CASE.title, tags: ['auth'], outcome: null }), [])
  t.strictSame(updateCase(folderWith(), { title: 'New', type: 'bug' }), [
    { file: 'case', edit: { fields: { title: 'New' } } },
  ])
  t.throws(() => updateCase(folderWith(), { parent: CASE_ID }), {
    code: 'bad_request',
    errors: [{ path: 'parent' }],
  })
})

t.test('RESOLVED needs the gate, and ticks what was proved', async (t) => {
  const checklist = [item, { ...item, type: 'trace', required: false }]
  const open = at('VERIFYING', { case: { ...CASE, checklist }, proofs: [VERIFIED] })
  open.case.state = 'VERIFYING'
  t.throws(() => setState(at('OPEN'), 'RESOLVED', {}), {
    code: 'proof_gate',
    extra: { missing: ['at least one verified proof'] },
  })
  const [edit] = setState(open, 'RESOLVED', { reason: null })
  t.match(edit, { edit: { fields: { state: 'RESOLVED' }, tick: [{ type: 'log' }] } })
  t.equal((edit as unknown as { edit: { tick: unknown[] } }).edit.tick.length, 1)
  t.strictSame(setState(at('OPEN'), 'BLOCKED', { reason: 'Why', outcome: 'Duplicate' }), [
    { file: 'case', edit: { fields: { reason: 'Why', outcome: 'Duplicate', state: 'BLOCKED' } } },
  ])
  t.strictSame(setState(at('BLOCKED'), 'BLOCKED', {}), [])
  const ignored = [
    { kind: 'state', file: 'case.md', from: 'OPEN', to: 'BLOCKED', was: 'OPEN' } as const,
  ]
  t.strictSame(
    setState(at('OPEN', { ignored: [...ignored] }), 'OPEN', {}),
    [{ file: 'case', edit: { fields: { state: 'OPEN' } } }],
    'it confirms the state in the file',
  )
  t.equal(shownState(at('RESOLVED')), 'VERIFYING')
  t.equal(shownState(at('RESOLVED', { proofs: [VERIFIED] })), 'RESOLVED')
  t.equal(caseJson(at('RESOLVED'), Date.parse(minute(3))).state, 'VERIFYING')
  t.equal(caseJson(folderWith(), 0).updated_at, CASE.created_at)
  t.equal(caseJson(folderWith(), Date.parse('2027-01-01')).updated_at, '2027-01-01T00:00:00.000Z')
})

t.test('a checklist item is added once, or again if a run took it out', async (t) => {
  const has = (parts: Partial<CaseContents> = {}) =>
    folderWith({ ...parts, case: { ...CASE, checklist: [item] } })
  t.throws(() => addItem(has(), item), { code: 'already_exists' })
  t.equal(addItem(has(), { ...item, type: 'trace' }).length, 1)
  t.equal(addItem(has(), { ...item, description: 'Other' }).length, 1)
  const was = { description: item.description, type: item.type }
  const ignored = [{ kind: 'checklist', file: 'case.md', from: '', to: '', was } as const]
  t.equal(addItem(has({ ignored: [...ignored] }), item).length, 1)
  t.throws(() => addItem(has({ ignored: [...ignored] }), { ...item, required: false }), {
    code: 'already_exists',
  })
})

t.test('an answer brings the case back to where it was asked', async (t) => {
  const history = (...from: string[]) =>
    from.map((state) => ({
      kind: 'question' as const,
      act: { name: 'state_changed', from: state, to: 'NEEDS_USER_INPUT' },
    })) as never
  const session = (parts: Partial<Session>) => ({ ...SESSION, ...parts })
  const rows: [name: string, parts: Partial<CaseContents>, state: string][] = [
    ['the last question counts', { history: history('OPEN', 'IMPLEMENTING') }, 'IMPLEMENTING'],
    ['RESOLVED with the gate shut', { history: history('RESOLVED') }, 'VERIFYING'],
    [
      'RESOLVED with the gate open',
      { history: history('RESOLVED'), proofs: [VERIFIED] },
      'RESOLVED',
    ],
    ['no history, no session', {}, 'OPEN'],
    ['failed', { sessions: [session({ state: 'failed' })] }, 'OPEN'],
    ['complete', { sessions: [session({ state: 'complete' })] }, 'VERIFYING'],
    [
      'executing',
      { sessions: [session({ state: 'failed' }), session({ state: 'executing' })] },
      'IMPLEMENTING',
    ],
    ['approved', { sessions: [session({ state: 'approved' })] }, 'IMPLEMENTING'],
    ['planning', { sessions: [session({ state: 'plan_ready' })] }, 'PLANNING'],
    [
      'investigating',
      { sessions: [session({ state: 'planning', type: 'investigating' })] },
      'INVESTIGATING',
    ],
  ]
  for (const [name, parts, state] of rows) {
    const [edit] = answerQuestion(at('NEEDS_USER_INPUT', parts), 'Yes')
    t.match(
      edit,
      {
        edit: { fields: { state, reason: null } },
        acts: [{ act: { name: 'answered', from: 'NEEDS_USER_INPUT', to: state }, text: 'Yes' }],
      },
      name,
    )
  }
  t.throws(() => answerQuestion(at('BLOCKED'), 'x'), { code: 'wrong_state' })
})

t.test('what people are notified of, once for each thing that waits', async (t) => {
  const planned = trailOf(['session_created'], ...movesOf('created', 'planning', 'plan_ready'))
  const again = trailOf(
    ['session_created'],
    ...movesOf('created', 'planning', 'plan_ready', 'planning', 'plan_ready'),
  )
  const plan = (trail: typeof planned) =>
    folderWith({ sessions: [{ ...SESSION, state: 'plan_ready', trail }] })
  t.match(waitingOf(plan(planned)), {
    kind: 'plan',
    session: 2,
    text: 'The plan of session 2 is ready',
  })
  t.not(
    waitingOf(plan(planned))?.cause,
    waitingOf(plan(again))?.cause,
    'a session that plans again is a new one',
  )
  const failed = (tests: Session['tests']) =>
    folderWith({
      case: { ...CASE, state: 'IMPLEMENTING' },
      sessions: [{ ...SESSION, state: 'failed', tests, trail: [] }],
    })
  t.equal(waitingOf(failed(null))?.text, 'Session 2 failed')
  t.equal(
    waitingOf(failed({ run: 1, passed: 0, failed: 1 }))?.text,
    'Session 2 failed: 1 of 1 test failed',
  )
  const complete = at('VERIFYING', { sessions: [{ ...SESSION, state: 'complete' }] })
  t.match(waitingOf(complete), { kind: 'proof', text: /finished and needs verification/ })
  const question = (reason: string) =>
    at('NEEDS_USER_INPUT', { case: { ...CASE, state: 'NEEDS_USER_INPUT', reason } })
  t.match(waitingOf(question('A?')), { kind: 'question', key: 'question', session: null })
  t.not(waitingOf(question('A?'))?.cause, waitingOf(question('B?'))?.cause)
  t.equal(waitingOf(at('BLOCKED')), null)
  t.equal(waitingOf(at('VERIFYING', { proofs: [{ ...VERIFIED, verified: false }] })), null)
  const causes = { [SESSION.id]: 'plan 3', gone: 'x', question: 'y' }
  t.strictSame(nextCauses(plan(again), causes), { [SESSION.id]: 'plan 5' })
  t.strictSame(Object.keys(nextCauses(question('A?'), causes)), ['question'])
  t.strictSame(nextCauses(at('WONT_FIX', { sessions: [SESSION] }), causes), {
    [SESSION.id]: 'plan 3',
  })
})

t.test('rows of lists, and their order', async (t) => {
  const trail = trailOf(['session_created'], ...movesOf('created', 'planning', 'plan_ready'), ['x'])
  const folder = folderWith({
    case: { ...CASE, created_at: minute(0) },
    sessions: [{ ...SESSION, state: 'plan_ready', trail }],
  })
  const row = triageRow(folder, caseJson(folder, 0))
  t.match(row, {
    title: CASE.title,
    since: minute(2),
    updated_at: minute(3),
    sessions: 1,
    running: false,
    tags: ['auth'],
    gate: { open: false, missing: 1 },
  })
  const proved = at('OPEN', { proofs: [VERIFIED], case: { ...CASE, created_at: minute(0) } })
  t.match(triageRow(proved, caseJson(proved, 0)), {
    needs: { kind: 'gate_open' },
    since: minute(2),
    updated_at: minute(2),
  })
  const none = triageRow(folderWith(), caseJson(folderWith(), 0))
  t.match(none, { needs: null, since: null })
  const kinds = ['plan', 'failed', 'proof', 'blocked', 'running'] as const
  const states = ['IMPLEMENTING', 'PLANNING', 'INVESTIGATING', 'OPEN', 'WATCHLIST', 'RESOLVED']
  const keys = [
    ...kinds.map((kind) => listKey({ ...row, needs: { ...row.needs!, kind } })),
    ...states.map((state) => listKey({ ...none, state: state as 'OPEN' })),
  ]
  t.strictSame(keys, keys.toSorted().reverse(), 'what one can act on first, then by state')
  const alike = [
    ['plan', 'question'],
    ['failed', 'problem'],
    ['proof', 'gate_open'],
  ] as const
  for (const [older, newer] of alike) {
    const of = (kind: typeof older | typeof newer, since: string) =>
      listKey({ ...row, since, needs: { ...row.needs!, kind } })
    t.ok(of(newer, minute(2)) > of(older, minute(1)), `of ${older} and ${newer} the newest first`)
    t.ok(of(older, minute(2)) > of(newer, minute(1)))
  }
  t.ok(listKey({ ...none, updated_at: minute(2) }) > listKey({ ...none, updated_at: minute(1) }))
})

t.test('names and words', async (t) => {
  const cases = [
    { id: 'aa11', title: 'Login' },
    { id: 'bb22', title: 'login hangs' },
  ]
  const found = (word: string) => findCasesByName(cases, word).map(({ id }) => id)
  t.strictSame(found(' LOGIN '), ['aa11'], 'the exact title')
  t.strictSame(found('logi'), ['aa11', 'bb22'])
  t.strictSame(found('bb'), ['bb22'])
  t.strictSame(found(''), [])
  t.equal(outcomeLabel('ConfirmedCodeBug'), 'Confirmed code bug')
  t.equal(outcomeLabel('WontFix'), 'Won’t fix')
  t.equal(outcomeLabel('A2B'), 'A2B')
  t.strictSame(
    ['FeatureShipped', 'ConfirmedDataBug', 'NeedsUserInput', 'Duplicate'].map(outcomeTone),
    ['good', 'good', 'warn', 'muted'],
  )
  for (const name of ['notes.md', 'Größe 1.MD', '1.txt.md', `${'x'.repeat(252)}.md`])
    t.ok(isMemoryName(name), name)
  for (const name of [
    '.a.md',
    'a.txt',
    'a/b.md',
    'a\\b.md',
    'a\u202e.md',
    'a\n.md',
    `${'x'.repeat(253)}.md`,
    `${'é'.repeat(127)}.md`,
  ])
    t.notOk(isMemoryName(name), name)
  t.strictSame(['CASE.md', 'latest.md', '12.md', '0.md', 'notes.md'].map(isRecordName), [
    true,
    true,
    true,
    false,
    false,
  ])
  t.strictSame(['notes.md', 'case.md', 'a.conflict-20261127T120000.000Z.md'].map(isNoteName), [
    true,
    false,
    false,
  ])
  const spans: [string, number | null][] = [
    ['500ms', 500],
    ['90s', 90_000],
    ['10m', 600_000],
    ['24h', 86_400_000],
    ['25h', null],
    ['0s', null],
    ['1.5h', null],
    ['10', null],
  ]
  for (const [text, ms] of spans) t.equal(parseDuration(text), ms, text)
})
