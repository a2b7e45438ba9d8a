import { isDeepStrictEqual } from 'node:util'
import t from 'tap'
import { historyLine, readHistory, shortTimes } from '../../src/markdown/history-file.ts'
import type { CaseContents, Edit } from '../../src/model/case-contents.ts'
import { FIELD_LIST } from '../../src/model/case-fields.ts'
import { CASE_STATES, SESSION_TYPES } from '../../src/model/case-state.ts'
import { CHANNELS } from '../../src/model/channels.ts'
import type { HistoryEntry } from '../../src/model/history.ts'
import { approverIn, doubtText, stateAfterEntries } from '../../src/model/history.ts'
import {
  ACT_NAMES,
  actText,
  type HistoryAct,
  kindOf,
  parseAct,
  sessionOf,
} from '../../src/model/history-act.ts'
import { actsOf, fileActs, renumberedAct, sessionActs } from '../../src/model/history-acts.ts'
import { withDerived } from '../../src/model/history-derived.ts'
import type { Session } from '../../src/model/session.ts'
import { PROOF as ANY_PROOF, CASE, SESSION } from '../fixtures/records.ts'
import { folderWith, minute, movesOf, trailOf } from '../fixtures/trail-of.ts'

const HASH = '0123456789abcdef'
const PROOF_ID = '0123abcd-1111-4111-8111-111111111111'
const PROOF = { ...ANY_PROOF, id: PROOF_ID }
const verified = { ...PROOF, type: 'log', session_id: null, verified: true, verified_at: minute(1) }
const item = { description: 'D', type: 'log', required: true }

function acts(edit: Edit, folder: CaseContents = folderWith()): string[] {
  return actsOf(folder, edit, { who: 'Ada', from: 'console' }).map(({ act, text }) =>
    actText(act, text),
  )
}

const caseEdit = (edit: object) => ({ file: 'case', edit }) as Edit
const at = (state: string, parts: Partial<CaseContents> = {}) =>
  folderWith({ case: { ...CASE, state: state as 'OPEN' }, ...parts })

t.test('the acts of an edit of a case', async (t) => {
  const rows: [name: string, edit: Edit, folder: CaseContents, acts: string[]][] = [
    [
      'a state',
      caseEdit({ fields: { state: 'BLOCKED', reason: 'Why' } }),
      at('OPEN'),
      ['moved the case from OPEN to BLOCKED · Why'],
    ],
    [
      'with an outcome',
      caseEdit({ fields: { state: 'WONT_FIX', outcome: 'WontFix' } }),
      at('OPEN'),
      ['moved the case from OPEN to WONT_FIX as WontFix'],
    ],
    [
      'the same state',
      caseEdit({ fields: { state: 'OPEN' } }),
      at('OPEN'),
      ['confirmed the state OPEN'],
    ],
    [
      'RESOLVED',
      caseEdit({ fields: { state: 'RESOLVED' } }),
      at('VERIFYING', { proofs: [verified] }),
      ['resolved the case'],
    ],
    [
      'from RESOLVED with the gate shut',
      caseEdit({ fields: { state: 'OPEN' } }),
      at('RESOLVED'),
      ['moved the case from VERIFYING to OPEN'],
    ],
    [
      'outcome and reason',
      caseEdit({ fields: { outcome: null, reason: 'R' } }),
      at('OPEN'),
      ['edited outcome · none', 'edited reason · R'],
    ],
    [
      'other fields',
      caseEdit({ fields: { title: 'T', tags: [] } }),
      at('OPEN'),
      ['edited title, tags · title: T'],
    ],
    [
      'an item',
      caseEdit({ addItem: item }),
      at('OPEN'),
      ['added a checklist item: D (log, required)'],
    ],
    [
      'an item that shuts the gate',
      caseEdit({ addItem: { ...item, type: 'diff' } }),
      at('RESOLVED', { proofs: [verified] }),
      [
        'added a checklist item: D (diff, required)',
        'moved the case from RESOLVED to VERIFYING · case.md says RESOLVED, and the proof gate is shut now',
      ],
    ],
    [
      'acts of its own',
      { ...caseEdit({ fields: { state: 'OPEN' } }), acts: [{ act: { name: 'imported' } }] } as Edit,
      at('BLOCKED'),
      ['imported the case'],
    ],
    [
      'a state that a session sets beside an ignored one',
      { file: 'ignored-state', state: 'PLANNING' },
      at('OPEN'),
      [],
    ],
  ]
  for (const [name, edit, folder, wanted] of rows) t.strictSame(acts(edit, folder), wanted, name)
  const other = { ...CASE, title: 'T', checklist: [{ ...item, checked: false }] }
  t.strictSame(
    fileActs(folderWith(), other).map(({ act }) => actText(act)),
    ['edited title', 'edited checklist'],
  )
  t.strictSame(fileActs(folderWith(), CASE), [])
  t.equal(
    actText(renumberedAct(SESSION, { from: 2, to: 3 }).act),
    'session 3: was session 2 before',
  )
})

t.test('the acts of proof', async (t) => {
  const session: Session = { ...SESSION, state: 'complete' }
  const proof = { ...PROOF, tests: { run: 2, passed: 2, failed: 0 } }
  const added = (parts: object): Edit => ({
    file: 'new-proof',
    proof: { ...proof, ...parts },
    content: '',
    picture: null,
  })
  const folder = folderWith({ sessions: [session] })
  t.strictSame(acts(added({}), folder), [
    'attached test-log proof to session 2: 2 of 2 passed (0123abcd)',
  ])
  t.strictSame(acts(added({ session_id: null, type: 'log', tests: null })), [
    'attached log proof (0123abcd)',
  ])
  t.strictSame(acts(added({ tests: { run: 1, passed: 0, failed: 1 } }), folder), [
    'attached test-log proof to session 2 (0123abcd) · 1 of 1 test failed',
  ])
  const verify = (accepted: string | null): Edit => ({
    file: 'proof',
    id: PROOF_ID,
    counted: {} as never,
    verification: { verified_at: minute(2), verified_by: 'Ada', meets: [], accepted },
  })
  const waits = (parts: object = {}) =>
    at('RESOLVED', { proofs: [{ ...verified, verified: false, ...parts }] })
  t.strictSame(acts(verify(null), waits()), [
    'verified log proof (0123abcd)',
    'resolved the case · case.md says RESOLVED, and the proof gate is open now',
  ])
  t.match(acts(verify('Known'), waits()), ['accepted log proof (0123abcd) · Known'])
  t.match(acts(verify('Known'), waits({ accepted: 'Known' })), ['verified log proof (0123abcd)'])
  t.strictSame(acts({ ...verify(null), verification: null } as Edit, waits()), [])
  t.strictSame(acts({ ...verify(null), id: 'gone' } as Edit, waits()), [])
})

type Lines = Parameters<typeof trailOf>
/** The acts of the last of these lines. */
function ofLast(...lines: Lines): string[] {
  const trail = trailOf(...lines)
  const session: Session = { ...SESSION, trail: trail.slice(0, -1) }
  return sessionActs(session, trail.slice(-1), {}, 'terminal').map(({ act, text, who }) =>
    [...(who === undefined ? [] : [who]), actText(act, text)].join(' | '),
  )
}

t.test('the acts of a session', async (t) => {
  const back: Lines[0] = movesOf('plan_ready', 'planning')[0]!
  const approved: Lines[0] = movesOf('plan_ready', 'approved')[0]!
  const left: Lines[0] = movesOf('approved', 'plan_ready')[0]!
  const plan: Lines[0] = ['plan_written', { sha256: HASH }]
  const reason = (line: Lines[0], text: string): Lines[0] => [line[0], { ...line[1], reason: text }]
  const rows: [Lines, string[]][] = [
    [[['session_created', {}]], ['started session 2 (runbook)']],
    [
      [['session_created', { again: 1, note: 'N' }]],
      ['started session 2 (runbook) · again after session 1: N'],
    ],
    [[['session_created', { note: 'N' }]], ['started session 2 (runbook) · N']],
    [[plan, plan], ['session 2: a plan is ready, revision 2 (01234567)']],
    [
      [plan, back, plan],
      [
        'session 2: a plan is ready, revision 2 (01234567) · The new plan is identical to the one sent back.',
      ],
    ],
    [
      [['plan_edited', { by: 'hand', sha256: HASH }]],
      ['session 2: edited the plan by hand (01234567)'],
    ],
    [[['plan_edited', { by: 'request', sha256: HASH }]], ['session 2: edited the plan (01234567)']],
    [
      [['plan_approved', { by: 'Bob', via: 'console', plan_sha256: HASH, note: 'Go' }]],
      ['Bob | session 2: approved the plan in the console (01234567) · Go'],
    ],
    [
      [['plan_approved', { plan_sha256: HASH }]],
      ['session 2: approved the plan in the terminal (01234567)'],
    ],
    [
      [['plan_approved', { plan_sha256: HASH, approved_via: 'mcp' }]],
      ['session 2: approved the plan via MCP (01234567)'],
    ],
    [
      [['queued', { waits_for: { number: 1, title: 'T' } }]],
      ['session 2: waits in line · after session 1 of “T”'],
    ],
    [[['queued', { waits_for: null }]], ['session 2: waits in line']],
    [
      [['plan_approved'], ['queued'], ['session_started']],
      ['session 2: began to work after waiting in line'],
    ],
    [[['queued'], ['plan_approved'], ['session_started']], []],
    [[reason(back, 'No.')], ['session 2: sent the plan back: No.']],
    [
      [['plan_approved'], approved, ['queued'], reason(left, 'R')],
      ['session 2: left the line · R'],
    ],
    [[['plan_approved'], approved, left], ['session 2: withdrew the approval']],
    [[reason(movesOf('executing', 'failed')[0]!, 'It broke. ')], ['session 2 failed: It broke']],
    [
      [reason(movesOf('executing', 'failed')[0]!, 'The run stopped: step a exited with 3.')],
      ['session 2 failed: step a exited with 3'],
    ],
    [[movesOf('executing', 'abandoned')[0]!], ['abandoned session 2']],
    [[movesOf('planning', 'plan_ready')[0]!], []],
    [[['tool_call', {}]], []],
  ]
  for (const [lines, wanted] of rows) {
    const found = ofLast(...lines)
    t.strictSame(found, wanted)
    for (const act of found) {
      const what = act.split(' | ').at(-1)!
      t.equal(sessionOf(parseAct(what)!.act), 2, `${what} is read`)
    }
  }
  const trail = trailOf(['comments_sent', { count: 2, note: 'N' }], back)
  t.match(sessionActs({ ...SESSION, trail: [] }, trail, {}, null), [
    {
      act: { name: 'plan_sent_back', session: 2, comments: 2 },
      text: 'N',
      at: minute(1),
    },
  ])
  const diff = { file: 'a.ts', additions: 3, deletions: 1, files: [{}, {}, {}] as never }
  const fields = { tests: { run: 1, passed: 1, failed: 0 }, diff }
  const done = trailOf(movesOf('executing', 'complete')[0]!)
  t.match(sessionActs({ ...SESSION, trail: [] }, done, { fields }, null), [
    {
      act: {
        name: 'run_ended',
        session: 2,
        state: 'complete',
        result: '1 of 1 test passed, 3 files, +3 −1',
      },
      text: undefined,
    },
  ])
})

/** For each act, what its fields can be; a field with `undefined` may be missing. */
const VALUES: { [Name in HistoryAct['name']]: Record<string, readonly unknown[]> } = (() => {
  const session = [1, 12, 999999]
  const hash = [HASH.slice(0, 8)]
  const by_hand = [undefined, true]
  const proof = {
    proof: ['0123abcd'],
    type: ['log', 'a.b_c'],
    result: [undefined, '1 of 2 passed'],
  }
  const known = {
    proof: ['0123abcd'],
    artifact: ['1-test.tap', '12-a b'],
    item: [undefined, 'All tests pass', 'a "b" (c): d'],
    result: [undefined, '23 of 23 passed'],
  }
  const one = { session }
  return {
    created: { by_hand },
    imported: {},
    state_changed: {
      from: CASE_STATES,
      to: CASE_STATES.filter((state) => state !== 'RESOLVED'),
      outcome: [undefined, 'WontFix'],
      by_hand,
    },
    state_confirmed: { to: CASE_STATES },
    answered: { from: ['NEEDS_USER_INPUT'], to: CASE_STATES },
    commented: {},
    edited: { fields: [['title'], ['title', 'tags'], FIELD_LIST.map(({ name }) => name)], by_hand },
    item_added: {},
    session_started: {
      session,
      type: SESSION_TYPES,
      provider: ['claude', 'my-agent.2', 'x'.repeat(64)],
    },
    plan_ready: { session, revision: [undefined, 2, 12], steps: [undefined, 1, 2], hash },
    plan_edited: { session, hash, by_hand },
    plan_sent_back: { session, comments: [undefined, 1, 2, 30] },
    plan_approved: { session, hash, where: [undefined, ...CHANNELS] },
    queued: one,
    queue_left: one,
    approval_withdrawn: one,
    work_begun: one,
    run_ended: {
      session,
      state: ['complete', 'failed', 'abandoned'],
      result: [
        undefined,
        '1 of 1 test passed',
        '1 file, +1 −0',
        '2 of 3 tests passed, 2 files, +1 −1',
      ],
    },
    work_applied: { session, commit: hash },
    worktree_discarded: one,
    renumbered: { session, before: session },
    session_deleted: one,
    proof_attached: { ...proof, session: [undefined, 3] },
    proof_verified: { ...known, by_hand },
    proof_accepted: known,
    proof_changed: { ...proof, by_hand: [true] },
    proof_deleted: { ...proof, by_hand: [true] },
  }
})()

function everyAct(name: HistoryAct['name']): HistoryAct[] {
  let all: Record<string, unknown>[] = [{ name }]
  for (const [field, values] of Object.entries(VALUES[name]))
    all = all.flatMap((act) =>
      values.map((value) => (value === undefined ? act : { ...act, [field]: value })),
    )
  return all as unknown as HistoryAct[]
}

const RESOLVED: HistoryAct[] = [
  { name: 'state_changed', to: 'RESOLVED' },
  { name: 'state_changed', to: 'RESOLVED', outcome: 'WontFix', by_hand: true },
]

t.test('every act is read from its line as it was written', async (t) => {
  const texts = new Map<string, HistoryAct>()
  for (const name of ACT_NAMES) {
    for (const act of everyAct(name).concat(name === 'state_changed' ? RESOLVED : [])) {
      const text = actText(act)
      t.notOk(texts.has(text), `${text} says one thing`)
      texts.set(text, act)
      const read = parseAct(text)
      if (!isDeepStrictEqual(read, { act, text: null })) t.strictSame(read?.act, act, text)
      const why = 'Why · 1 of 2 passed: or (0123abcd)'
      const [line] = shortTimes([historyLine({ act, text: why }, { who: 'Ada' }, minute(1))])
      const [entry] = readHistory(line!)
      if (entry?.what !== text || entry.text !== why || !isDeepStrictEqual(entry.act, act))
        t.match(entry, { what: text, text: why, act }, line!)
      for (const other of [`x${text}`, `${text} by me`, `${text}\n`])
        if (parseAct(other)) t.strictSame(parseAct(other), null, other)
    }
  }
  t.ok(texts.size > 700)
})

t.test('lines of older versions say the same acts', async (t) => {
  const rows: [before: string, now: string | null][] = [
    ['created', 'created the case'],
    ['created by hand', 'created the case by hand'],
    ['created x', null],
    ['imported', 'imported the case'],
    ['OPEN → BLOCKED', 'moved the case from OPEN to BLOCKED'],
    [
      'OPEN → WONT_FIX (WontFix) by hand',
      'moved the case from OPEN to WONT_FIX as WontFix by hand',
    ],
    ['VERIFYING → RESOLVED (FeatureShipped)', 'resolved the case: FeatureShipped'],
    ['OPEN → NEEDS_USER_INPUT', 'asks (OPEN → NEEDS_USER_INPUT)'],
    ['OPEN → NOWHERE', null],
    ['OPEN → BLOCKEDx', null],
    ['confirmed state OPEN', 'confirmed the state OPEN'],
    ['edited case.md by hand (title, tags)', 'edited title, tags by hand'],
    ['added checklist item', 'added a checklist item'],
    ['session 1 started (implementing, runbook)', 'started session 1 (runbook)'],
    ['session 1 started (verifying, my-agent)', 'started session 1 (verifying, my-agent)'],
    ['session 1 plan ready (revision 1, 0123456789ab)', 'session 1: a plan is ready (01234567)'],
    [
      'session 1 plan ready (revision 2, 0123456789ab)',
      'session 1: a plan is ready, revision 2 (01234567)',
    ],
    [
      'session 1 plan edited by hand (0123456789ab)',
      'session 1: edited the plan by hand (01234567)',
    ],
    ['session 12 plan sent back (1 comment)', 'session 12: sent the plan back with 1 comment'],
    [
      'session 1 approved in the console (plan 0123456789ab)',
      'session 1: approved the plan in the console (01234567)',
    ],
    ['session 1 approved (plan 0123456789)', null],
    ['session 1 waits in line', 'session 1: waits in line'],
    ['session 1 left the line', 'session 1: left the line'],
    ['session 1 approval withdrawn', 'session 1: withdrew the approval'],
    [
      'session 1 begins to work after waiting in line',
      'session 1: began to work after waiting in line',
    ],
    ['session 1 complete', 'session 1: finished'],
    ['session 1 failed', 'session 1 failed'],
    ['session 1 abandoned', 'abandoned session 1'],
    [
      'session 1: approved the plan by the API (01234567)',
      'session 1: approved the plan via the API (01234567)',
    ],
    [
      'session 1: approved the plan by MCP (01234567)',
      'session 1: approved the plan via MCP (01234567)',
    ],
    ['session 1 applied (commit 0123456789ab)', 'session 1: applied the work (01234567)'],
    ['session 1 worktree discarded', 'session 1: discarded the worktree'],
    ['session 1 deleted by hand', 'deleted session 1 by hand'],
    ['session 2 renumbered from 1', 'session 2: was session 1 before'],
    [
      'proof 0123abcd (test-log) attached to session 1',
      'attached test-log proof to session 1 (0123abcd)',
    ],
    ['proof 0123abcd (log) attached by hand', 'attached log proof by hand (0123abcd)'],
    ['proof 0123abcd (log) verified', 'verified log proof (0123abcd)'],
    ['proof 0123abcd (log) accepted', 'accepted log proof (0123abcd)'],
    ['proof 0123abcd (log) changed by hand', 'changed log proof by hand (0123abcd)'],
    ['proof 0123abcd (log) deleted by hand', 'deleted log proof by hand (0123abcd)'],
    ['I approved session 1', null],
  ]
  for (const [before, now] of rows) {
    const [entry] = readHistory(`- 2026-11-20T09:55:12.310Z · Ada · ${before} · Why`)
    if (now === null) t.equal(entry?.kind, 'note', before)
    else
      t.match(entry, { what: now, text: 'Why', act: parseAct(now)!.act, at: /12\.310Z$/ }, before)
  }
  const failed = { name: 'run_ended', state: 'failed', result: '1 of 2 tests passed' }
  t.match(parseAct('session 1: failed, 1 of 2 tests passed: Why'), { act: failed, text: 'Why' })
  t.match(parseAct('session 1: abandoned'), {
    act: { ...failed, state: 'abandoned', result: undefined },
  })
  t.match(parseAct('answered "Why?" · So'), { act: { name: 'answered' }, text: 'So' })
})

t.test('what an act means', async (t) => {
  const kinds: Record<string, string> = {
    'asks: Why? (OPEN → NEEDS_USER_INPUT)': 'question',
    'moved the case from OPEN to NEEDS_USER_INPUT as NeedsUserInput': 'question',
    'answers: So. (NEEDS_USER_INPUT → OPEN)': 'answer',
    'session 12: sent the plan back: No.': 'sent_back',
    'deleted session 1 by hand': 'deleted',
  }
  for (const [what, kind] of Object.entries(kinds)) t.equal(kindOf(parseAct(what)!.act), kind, what)
  const state = (...sentences: string[]) =>
    stateAfterEntries(
      sentences.map((sentence): HistoryEntry => {
        const { act } = parseAct(sentence)!
        return { act, session: sessionOf(act) } as HistoryEntry
      }),
    )
  const begun = ['moved the case from BLOCKED to OPEN', 'started session 1 (runbook)']
  const approved = [...begun, 'session 1: approved the plan (01234567)']
  t.equal(state('created the case', 'started session 1 (runbook)'), null)
  t.equal(state(...begun), 'PLANNING')
  t.equal(state(...approved), 'IMPLEMENTING')
  t.equal(state(...approved, 'session 1: waits in line'), 'PLANNING')
  t.equal(state(...approved, 'session 1 failed'), 'IMPLEMENTING')
  t.equal(state(...approved, 'session 1: 1 of 1 test passed'), 'VERIFYING')
  t.equal(state(...approved, 'resolved the case: Duplicate'), 'RESOLVED')
  t.equal(state(...begun, 'answers: So. (NEEDS_USER_INPUT → OPEN)'), 'OPEN')
  t.strictSame(approverIn({ by: 7, via: 'nowhere' }), { by: null, via: null })
  t.equal(doubtText({ source: 'file', kind: 'state' }), '(not recorded by Casefile)')
  t.equal(doubtText({ source: 'git', kind: 'state' }), '(by git)')
  for (const source of ['service', 'unknown', 'derived'] as const)
    t.equal(doubtText({ source, kind: 'state' }), null)
  t.equal(doubtText({ source: 'file', kind: 'note' }), null)
})

const APPROVED: HistoryAct = { name: 'plan_approved', session: 2, hash: HASH.slice(0, 8) }

t.test('what is older than history.md comes from the other files', async (t) => {
  const trail = trailOf(
    ['session_created', {}],
    ['plan_written', { sha256: HASH }],
    ['plan_approved', { by: 'Ada', plan_sha256: HASH }],
  )
  const folder = folderWith({
    case: { ...CASE, created_at: minute(-5) },
    sessions: [{ ...SESSION, trail, provider: 'claude' }],
    proofs: [{ ...PROOF, created_at: minute(3), verified_at: minute(4) }],
  })
  const derived = (entries: object[]) =>
    withDerived(folder, entries as HistoryEntry[]).map(
      ({ who, what, source }) => `${what.replace(/ \(.*/, '')} ${who} ${source}`,
    )
  const all = [
    'created the case null derived',
    'started session 2 null derived',
    'session 2: a plan is ready claude derived',
    'session 2: approved the plan Ada derived',
    'attached test-log proof to session 2 null derived',
    'verified test-log proof null derived',
  ]
  t.strictSame(derived([]), all)
  const line = (what: string, count: number, who = 'Bob') => ({
    at: minute(count),
    who,
    what,
    kind: kindOf(parseAct(what)!.act),
    source: 'file',
  })
  t.strictSame(
    derived([line('edited title', 2)]),
    [...all.slice(0, 4), 'edited title Bob file'],
    'nothing after the minute of the first line',
  )
  t.strictSame(derived([line('created the case', -5), line('edited title', 2)]), [
    'created the case Bob file',
    ...all.slice(1, 4),
    'edited title Bob file',
  ])
  const approved = { ...line('session 2: approved the plan (01234567)', 2), act: APPROVED }
  t.strictSame(derived([approved]), [...all.slice(0, 3), 'session 2: approved the plan Bob file'])
  t.strictSame(derived([line('created the case', -5), line('edited title', -5)]), [
    'created the case Bob file',
    'edited title Bob file',
  ])
})
