import { isDeepStrictEqual } from 'node:util'
import t from 'tap'
import { historyLine, readHistory } from '../../src/markdown/history-file.ts'
import type { CaseContents, Edit } from '../../src/model/case-contents.ts'
import { FIELD_LIST } from '../../src/model/case-fields.ts'
import { CASE_STATES, SESSION_TYPES } from '../../src/model/case-state.ts'
import { CHANNELS } from '../../src/model/channels.ts'
import type { HistoryEntry } from '../../src/model/history.ts'
import { approverIn, doubtText, lastStateChange } from '../../src/model/history.ts'
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
    [actText(act), ...(text === undefined ? [] : [text])].join(' | '),
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
      ['OPEN → BLOCKED | Why'],
    ],
    [
      'with an outcome',
      caseEdit({ fields: { state: 'WONT_FIX', outcome: 'WontFix' } }),
      at('OPEN'),
      ['OPEN → WONT_FIX (WontFix)'],
    ],
    [
      'the same state',
      caseEdit({ fields: { state: 'OPEN' } }),
      at('OPEN'),
      ['confirmed state OPEN'],
    ],
    [
      'RESOLVED by what was verified',
      caseEdit({ fields: { state: 'RESOLVED' } }),
      at('VERIFYING', {
        proofs: [
          verified,
          { ...verified, id: 'p2', accepted: 'x' },
          verified,
          { ...verified, intact: false, type: 'no' },
        ],
      }),
      ['VERIFYING → RESOLVED | the proof gate is open: verified log, log (accepted)'],
    ],
    [
      'from RESOLVED with the gate shut',
      caseEdit({ fields: { state: 'OPEN' } }),
      at('RESOLVED'),
      ['VERIFYING → OPEN'],
    ],
    [
      'outcome and reason',
      caseEdit({ fields: { outcome: null, reason: 'R' } }),
      at('OPEN'),
      ['edited outcome | none', 'edited reason | R'],
    ],
    [
      'other fields',
      caseEdit({ fields: { title: 'T', tags: [] } }),
      at('OPEN'),
      ['edited title, tags | title: T'],
    ],
    [
      'an item',
      caseEdit({ addItem: item }),
      at('OPEN'),
      ['added checklist item | D (log, required)'],
    ],
    [
      'an item that shuts the gate',
      caseEdit({ addItem: { ...item, type: 'diff' } }),
      at('RESOLVED', { proofs: [verified] }),
      [
        'added checklist item | D (diff, required)',
        'RESOLVED → VERIFYING | case.md says RESOLVED, and the proof gate is shut now',
      ],
    ],
    [
      'acts of its own',
      { ...caseEdit({ fields: { state: 'OPEN' } }), acts: [{ act: { name: 'imported' } }] } as Edit,
      at('BLOCKED'),
      ['imported'],
    ],
    [
      'an ignored state',
      { file: 'ignored-state', state: 'PLANNING' },
      at('OPEN'),
      ['OPEN → PLANNING'],
    ],
  ]
  for (const [name, edit, folder, wanted] of rows) t.strictSame(acts(edit, folder), wanted, name)
  const other = { ...CASE, title: 'T', checklist: [{ ...item, checked: false }] }
  t.strictSame(
    fileActs(folderWith(), other).map(({ act }) => actText(act)),
    ['edited title', 'edited checklist'],
  )
  t.strictSame(fileActs(folderWith(), CASE), [])
  t.equal(actText(renumberedAct(SESSION, { from: 2, to: 3 }).act), 'session 3 renumbered from 2')
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
    'proof 0123abcd (test-log) attached to session 2 | 2 tests: 2 passed, 0 failed',
  ])
  t.strictSame(acts(added({ session_id: null, type: 'log', tests: null })), [
    'proof 0123abcd (log) attached',
  ])
  t.strictSame(acts(added({ tests: { run: 1, passed: 0, failed: 1 } }), folder), [
    'proof 0123abcd (test-log) attached to session 2 | 1 of 1 test failed',
  ])
  const verify = (accepted: string | null): Edit => ({
    file: 'proof',
    id: PROOF_ID,
    counted: {} as never,
    verification: { verified_at: minute(2), accepted },
  })
  const waits = (parts: object = {}) =>
    at('RESOLVED', { proofs: [{ ...verified, verified: false, ...parts }] })
  t.strictSame(acts(verify(null), waits()), [
    'proof 0123abcd (log) verified',
    'VERIFYING → RESOLVED | case.md says RESOLVED, and the proof gate is open now',
  ])
  t.match(acts(verify('Known'), waits()), ['proof 0123abcd (log) accepted | Known'])
  t.match(acts(verify('Known'), waits({ accepted: 'Known' })), ['proof 0123abcd (log) verified'])
  t.strictSame(acts({ ...verify(null), verification: null } as Edit, waits()), [])
  t.strictSame(acts({ ...verify(null), id: 'gone' } as Edit, waits()), [])
})

type Lines = Parameters<typeof trailOf>
/** The acts of the last of these lines. */
function ofLast(...lines: Lines): string[] {
  const trail = trailOf(...lines)
  const session: Session = { ...SESSION, trail: trail.slice(0, -1) }
  return sessionActs(session, trail.slice(-1), {}, 'terminal').map(({ act, text, who }) =>
    [...(who === undefined ? [] : [who]), actText(act), ...(text === undefined ? [] : [text])].join(
      ' | ',
    ),
  )
}

t.test('the acts of a session', async (t) => {
  const back: Lines[0] = movesOf('plan_ready', 'planning')[0]!
  const approved: Lines[0] = movesOf('plan_ready', 'approved')[0]!
  const left: Lines[0] = movesOf('approved', 'plan_ready')[0]!
  const plan: Lines[0] = ['plan_written', { sha256: HASH }]
  const reason = (line: Lines[0], text: string): Lines[0] => [line[0], { ...line[1], reason: text }]
  const rows: [Lines, string[]][] = [
    [[['session_created', {}]], ['session 2 started (implementing, runbook)']],
    [
      [['session_created', { again: 1, note: 'N' }]],
      ['session 2 started (implementing, runbook) | again after session 1: N'],
    ],
    [[['session_created', { note: 'N' }]], ['session 2 started (implementing, runbook) | N']],
    [[plan, plan], ['session 2 plan ready (revision 2, 0123456789ab)']],
    [
      [plan, back, plan],
      [
        'session 2 plan ready (revision 2, 0123456789ab) | The new plan is identical to the one sent back.',
      ],
    ],
    [
      [['plan_edited', { by: 'hand', sha256: HASH }]],
      ['session 2 plan edited by hand (0123456789ab)'],
    ],
    [[['plan_edited', { by: 'request', sha256: HASH }]], ['session 2 plan edited (0123456789ab)']],
    [
      [['plan_approved', { by: 'Bob', via: 'console', plan_sha256: HASH, note: 'Go' }]],
      ['Bob | session 2 approved in the console (plan 0123456789ab) | Go'],
    ],
    [
      [['plan_approved', { plan_sha256: HASH }]],
      ['session 2 approved in the terminal (plan 0123456789ab)'],
    ],
    [
      [['plan_approved', { plan_sha256: HASH, approved_via: 'mcp' }]],
      ['session 2 approved by MCP (plan 0123456789ab)'],
    ],
    [
      [['queued', { waits_for: { number: 1, title: 'T' } }]],
      ['session 2 waits in line | after session 1 of “T”'],
    ],
    [[['queued', { waits_for: null }]], ['session 2 waits in line']],
    [
      [['plan_approved'], ['queued'], ['session_started']],
      ['session 2 begins to work after waiting in line'],
    ],
    [[['queued'], ['plan_approved'], ['session_started']], []],
    [[reason(back, 'No.')], ['session 2 plan sent back | No.']],
    [[['plan_approved'], approved, ['queued'], reason(left, 'R')], ['session 2 left the line | R']],
    [[['plan_approved'], approved, left], ['session 2 approval withdrawn']],
    [[reason(movesOf('executing', 'failed')[0]!, 'It broke. ')], ['session 2 failed | It broke']],
    [[movesOf('executing', 'abandoned')[0]!], ['session 2 abandoned']],
    [[movesOf('planning', 'plan_ready')[0]!], []],
    [[['tool_call', {}]], []],
  ]
  for (const [lines, wanted] of rows) {
    const found = ofLast(...lines)
    t.strictSame(found, wanted)
    for (const act of found) {
      const what = act.split(' | ').find((part) => part.startsWith('session'))!
      t.equal(sessionOf(parseAct(what)!), 2, `${what} is read`)
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
      act: { name: 'run_ended', session: 2, state: 'complete' },
      text: '1 test: 1 passed, 0 failed; changed a.ts and 2 more (+3 −1)',
    },
  ])
})

/** For each act, what its fields can be; a field with `undefined` may be missing. */
const VALUES: { [Name in HistoryAct['name']]: Record<string, readonly unknown[]> } = (() => {
  const session = [1, 12, 999999]
  const hash = [HASH.slice(0, 12)]
  const by_hand = [undefined, true]
  const proof = { proof: ['0123abcd'], type: ['log', 'test-log', 'a.b_c'] }
  const one = { session }
  return {
    created: { by_hand },
    imported: {},
    state_changed: {
      from: CASE_STATES,
      to: CASE_STATES,
      outcome: [undefined, 'WontFix'],
      by_hand,
    },
    state_confirmed: { to: CASE_STATES },
    answered: { question: [undefined, 'Why?', '"', 'Say "no" (or not)…', 'x'.repeat(119)] },
    commented: {},
    edited: { fields: [['title'], ['title', 'tags'], FIELD_LIST.map(({ name }) => name)], by_hand },
    item_added: {},
    session_started: {
      session,
      type: SESSION_TYPES,
      provider: ['claude', 'my-agent.2', 'x'.repeat(64)],
    },
    plan_ready: { session, revision: [1, 12], hash },
    plan_edited: { session, hash, by_hand },
    plan_sent_back: { session, comments: [undefined, 1, 2, 30] },
    plan_approved: { session, hash, where: [undefined, ...CHANNELS] },
    queued: one,
    queue_left: one,
    approval_withdrawn: one,
    work_begun: one,
    run_ended: { session, state: ['complete', 'failed', 'abandoned'] },
    work_applied: { session, commit: hash },
    worktree_discarded: one,
    renumbered: { session, before: session },
    session_deleted: one,
    proof_attached: { ...proof, session: [undefined, 3] },
    proof_verified: { ...proof, by_hand },
    proof_accepted: proof,
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

t.test('every act is read from its line as it was written', async (t) => {
  const texts = new Map<string, HistoryAct>()
  for (const name of ACT_NAMES) {
    for (const act of everyAct(name)) {
      const text = actText(act)
      t.notOk(texts.has(text), `${text} says one thing`)
      texts.set(text, act)
      if (!isDeepStrictEqual(parseAct(text), act)) t.strictSame(parseAct(text), act, text)
      const line = historyLine({ act, text: 'Why' }, { who: 'Ada' }, minute(1))
      const [entry] = readHistory(line)
      if (entry?.what !== text || entry.text !== 'Why' || !isDeepStrictEqual(entry.act, act))
        t.match(entry, { what: text, text: 'Why', act }, line)
      for (const other of [`x${text}`, `${text} by me`, `${text}\n`])
        if (parseAct(other)) t.strictSame(parseAct(other), null, other)
    }
  }
  t.ok(texts.size > 700)
})

t.test('the kind of an act is known by its text', async (t) => {
  const rows: [what: string, kind: string | null][] = [
    ['created', 'created'],
    ['created by hand', 'created'],
    ['created x', null],
    ['imported', 'imported'],
    ['OPEN → BLOCKED', 'state'],
    ['OPEN → BLOCKED (Duplicate)', 'state'],
    ['OPEN → NEEDS_USER_INPUT', 'question'],
    ['OPEN → NOWHERE', null],
    ['OPEN → BLOCKEDx', null],
    ['answered "Why?"', 'answer'],
    ['session 1 approved (plan 0123456789ab)', 'approved'],
    ['session 1 approved (plan 0123456789)', null],
    ['session 12 plan sent back (1 comment)', 'sent_back'],
    ['session 1 applied (commit 0123456789ab)', 'worktree'],
    ['session 1 worktree discarded', 'worktree'],
    ['session 1 deleted by hand', 'deleted'],
    ['proof 0123abcd (log) deleted by hand', 'deleted'],
    ['proof 0123abcd (log) changed by hand', 'proof'],
    ['edited title', 'edit'],
    ['session 2 renumbered from 1', 'edit'],
    ['I approved session 1', null],
  ]
  const kind = (what: string) => {
    const act = parseAct(what)
    return act && kindOf(act)
  }
  for (const [what, wanted] of rows) t.equal(kind(what), wanted, what)
  const entry = (what: string) => ({ act: parseAct(what) }) as HistoryEntry
  t.match(lastStateChange(['OPEN → BLOCKED', 'BLOCKED → NEEDS_USER_INPUT', 'created'].map(entry)), {
    from: 'BLOCKED',
    to: 'NEEDS_USER_INPUT',
  })
  t.strictSame(approverIn({ by: 7, via: 'nowhere' }), { by: null, via: null })
  t.equal(doubtText({ source: 'file', kind: 'state' }), '(not recorded by Casefile)')
  t.equal(doubtText({ source: 'git', kind: 'state' }), '(by git)')
  for (const source of ['service', 'unknown', 'derived'] as const)
    t.equal(doubtText({ source, kind: 'state' }), null)
  t.equal(doubtText({ source: 'file', kind: 'note' }), null)
})

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
    'created null derived',
    'session 2 started null derived',
    'session 2 plan ready claude derived',
    'session 2 approved Ada derived',
    'proof 0123abcd null derived',
    'proof 0123abcd null derived',
  ]
  t.strictSame(derived([]), all)
  const line = (what: string, count: number, who = 'Bob') => ({
    at: minute(count),
    who,
    what,
    kind: kindOf(parseAct(what)!),
    source: 'file',
  })
  t.strictSame(
    derived([line('edited title', 2)]),
    [...all.slice(0, 3), 'edited title Bob file'],
    'nothing after the first line',
  )
  t.strictSame(derived([line('created', -5), line('edited title', 2)]), [
    'created Bob file',
    ...all.slice(1, 3),
    'edited title Bob file',
  ])
  t.strictSame(derived([line('created', -5), line('edited title', -5)]), [
    'created Bob file',
    'edited title Bob file',
  ])
})
