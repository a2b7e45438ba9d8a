import t from 'tap'
import type { CaseFolder, Edit } from '../../src/model/case-folder.ts'
import type { HistoryEntry } from '../../src/model/history.ts'
import {
  appliedCommit,
  approverIn,
  doubtText,
  kindOf,
  lastStateChange,
  parseStateChange,
  sessionIn,
} from '../../src/model/history.ts'
import { actsOf, fileActs, renumberedAct, sessionActs } from '../../src/model/history-acts.ts'
import { withDerived } from '../../src/model/history-derived.ts'
import type { Session } from '../../src/model/session.ts'
import { CASE, PROOF, SESSION } from '../fixtures/records.ts'
import { folderWith, minute, movesOf, trailOf } from '../fixtures/trail-of.ts'

const HASH = '0123456789abcdef'
const verified = { ...PROOF, type: 'log', session_id: null, verified: true, verified_at: minute(1) }
const item = { description: 'D', type: 'log', required: true }

function acts(edit: Edit, folder: CaseFolder = folderWith()): string[] {
  return actsOf(folder, edit, { who: 'Ada', from: 'console' }).map(({ what, text }) =>
    text === undefined ? what : `${what} | ${text}`,
  )
}

const caseEdit = (edit: object) => ({ file: 'case', edit }) as Edit
const at = (state: string, parts: Partial<CaseFolder> = {}) =>
  folderWith({ case: { ...CASE, state: state as 'OPEN' }, ...parts })

t.test('the acts of an edit of a case', async (t) => {
  const rows: [name: string, edit: Edit, folder: CaseFolder, acts: string[]][] = [
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
      { ...caseEdit({ fields: { state: 'OPEN' } }), acts: [{ what: 'x' }] } as Edit,
      at('BLOCKED'),
      ['x'],
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
    fileActs(folderWith(), other).map(({ what }) => what),
    ['edited title', 'edited checklist'],
  )
  t.strictSame(fileActs(folderWith(), CASE), [])
  t.match(renumberedAct(SESSION, { from: 2, to: 3 }), { what: 'session 3 renumbered from 2' })
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
    'proof p1 (test-log) attached to session 2 | 2 tests: 2 passed, 0 failed',
  ])
  t.strictSame(acts(added({ session_id: null, type: 'log', tests: null })), [
    'proof p1 (log) attached',
  ])
  t.strictSame(acts(added({ tests: { run: 1, passed: 0, failed: 1 } }), folder), [
    'proof p1 (test-log) attached to session 2 | 1 of 1 test failed',
  ])
  const verify = (accepted: string | null): Edit => ({
    file: 'proof',
    id: 'p1',
    counted: {} as never,
    verification: { verified_at: minute(2), accepted },
  })
  const waits = (parts: object = {}) =>
    at('RESOLVED', { proofs: [{ ...verified, verified: false, ...parts }] })
  t.strictSame(acts(verify(null), waits()), [
    'proof p1 (log) verified',
    'VERIFYING → RESOLVED | case.md says RESOLVED, and the proof gate is open now',
  ])
  t.match(acts(verify('Known'), waits()), ['proof p1 (log) accepted | Known'])
  t.match(acts(verify('Known'), waits({ accepted: 'Known' })), ['proof p1 (log) verified'])
  t.strictSame(acts({ ...verify(null), verification: null } as Edit, waits()), [])
  t.strictSame(acts({ ...verify(null), id: 'gone' } as Edit, waits()), [])
})

type Lines = Parameters<typeof trailOf>
/** The acts of the last of these lines. */
function ofLast(...lines: Lines): string[] {
  const trail = trailOf(...lines)
  const session: Session = { ...SESSION, trail: trail.slice(0, -1) }
  return sessionActs(session, trail.slice(-1), {}, 'terminal').map(({ what, text, who }) =>
    [...(who === undefined ? [] : [who]), what, ...(text === undefined ? [] : [text])].join(' | '),
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
      t.ok(kindOf(what), `${what} has a kind`)
      t.equal(sessionIn(what), 2)
    }
  }
  const trail = trailOf(['comments_sent', { count: 2, note: 'N' }], back)
  t.match(sessionActs({ ...SESSION, trail: [] }, trail, {}, null), [
    { what: 'session 2 plan sent back (2 comments)', text: 'N', at: minute(1) },
  ])
  const diff = { file: 'a.ts', additions: 3, deletions: 1, files: [{}, {}, {}] as never }
  const fields = { tests: { run: 1, passed: 1, failed: 0 }, diff }
  const done = trailOf(movesOf('executing', 'complete')[0]!)
  t.match(sessionActs({ ...SESSION, trail: [] }, done, { fields }, null), [
    {
      what: 'session 2 complete',
      text: '1 test: 1 passed, 0 failed; changed a.ts and 2 more (+3 −1)',
    },
  ])
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
  for (const [what, kind] of rows) t.equal(kindOf(what), kind, what)
  t.equal(appliedCommit('session 1 applied (commit 0123456789ab)'), '0123456789ab')
  t.equal(appliedCommit('session 1 worktree discarded'), null)
  t.strictSame(parseStateChange('OPEN → BLOCKED (x)'), { from: 'OPEN', to: 'BLOCKED' })
  const entry = (what: string) => ({ what, kind: kindOf(what) }) as HistoryEntry
  t.strictSame(
    lastStateChange(['OPEN → BLOCKED', 'BLOCKED → NEEDS_USER_INPUT', 'created'].map(entry)),
    { from: 'BLOCKED', to: 'NEEDS_USER_INPUT' },
  )
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
    'proof p1 null derived',
    'proof p1 null derived',
  ]
  t.strictSame(derived([]), all)
  const line = (what: string, count: number, who = 'Bob') => ({
    at: minute(count),
    who,
    what,
    kind: kindOf(what),
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
