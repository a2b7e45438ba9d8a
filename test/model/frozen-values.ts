import t from 'tap'
import type { CaseContents, Edit } from '../../src/model/case-contents.ts'
import {
  frozenAfter,
  frozenWithCase,
  frozenWithSession,
  isEmpty,
} from '../../src/model/frozen-value-edits.ts'
import {
  applyFrozenValues,
  type CommittedChange,
  committedKey,
  type FrozenValues,
  freezeValues,
  frozenOfIgnored,
  type IgnoredChange,
  lineKey,
  NONE_EXISTED,
  progressOf,
  verificationOf,
} from '../../src/model/frozen-values.ts'
import { ignoredChangeProblem } from '../../src/model/ignored-change-problem.ts'
import type { Proof } from '../../src/model/proof.ts'
import type { Session } from '../../src/model/session.ts'
import { CASE, CASE_ID, PROOF, SESSION } from '../fixtures/records.ts'
import { folderWith, minute, trailOf } from '../fixtures/trail-of.ts'

const item = { description: 'Logs', type: 'log', required: true, checked: false }
const optional = { ...item, description: 'Trace', required: false }
const was = { description: 'Logs', type: 'log' }
const verified: Proof = { ...PROOF, verified: true, verified_at: minute(1) }
const session: Session = { ...SESSION, state: 'plan_ready' }
const files = (parts: Partial<CaseContents> = {}) =>
  folderWith({
    case: { ...CASE, state: 'PLANNING', checklist: [item, optional] },
    sessions: [session],
    proofs: [verified],
    ...parts,
  })
const nothingRuns = () => false
const frozen = freezeValues(files(), nothingRuns)
const caseWith = (parts: object) => files({ case: { ...files().case, ...parts } })

t.test('an edit by file of what is frozen is ignored', async (t) => {
  const planned = {
    ...session,
    state: 'approved' as const,
    trail: [...session.trail, ...trailOf(['x'])],
  }
  const rows: [name: string, after: CaseContents, ignored: string[], effect: object][] = [
    ['nothing', files(), [], {}],
    [
      'the state',
      caseWith({ state: 'RESOLVED' }),
      ['state case.md: PLANNING, RESOLVED'],
      { case: { state: 'PLANNING' } },
    ],
    ['the title, which is not frozen', caseWith({ title: 'x' }), [], { case: { title: 'x' } }],
    [
      'a required item that is gone',
      caseWith({ checklist: [optional] }),
      ['checklist case.md: Logs (log, required), missing'],
      { case: { checklist: [item, optional] } },
    ],
    [
      'one that is not required any more',
      caseWith({ checklist: [optional, { ...item, required: false, type: 'x', checked: true }] }),
      ['checklist case.md: Logs (log, required), Logs (x)'],
      { case: { checklist: [optional, { ...item, checked: true }] } },
    ],
    [
      'one of another type',
      caseWith({ checklist: [{ ...item, type: 'x' }] }),
      ['checklist case.md: Logs (log, required), missing'],
      {},
    ],
    ['an optional item', caseWith({ checklist: [item] }), [], { case: { checklist: [item] } }],
    ['an item more', caseWith({ checklist: [item, { ...item, type: 'x' }] }), [], {}],
    [
      'another content that is verified',
      files({ proofs: [{ ...verified, sha256: 'y' }] }),
      ['verification proof/p1.md: verified (test-log x), verified (test-log y)'],
      { proofs: [{ verified: false, verified_at: null }] },
    ],
    ['a verification taken back', files({ proofs: [{ ...verified, verified: false }] }), [], {}],
    [
      'a proof that is new',
      files({ proofs: [verified, { ...verified, id: 'p2' }] }),
      ['verification proof/p2.md: not verified, verified (test-log x)'],
      { proofs: [{ verified: true }, { verified: false }] },
    ],
    [
      'a session that went on',
      files({ sessions: [planned] }),
      [`session sessions/2.md: ${progressOf(session)}, ${progressOf(planned)}`],
      { sessions: [{ state: 'plan_ready' }] },
    ],
    [
      'a session that is new',
      files({ sessions: [session, { ...session, id: 'n', number: 3 }] }),
      [`session sessions/3.md: missing, ${progressOf(session)}`],
      { sessions: [{}, { state: 'plan_ready' }] },
    ],
  ]
  for (const [name, after, ignored, effect] of rows) {
    const found = applyFrozenValues(after, frozen)
    t.strictSame(
      found.ignored.map(({ kind, file, from, to }) => `${kind} ${file}: ${from}, ${to}`),
      ignored,
      name,
    )
    t.match(found, effect, name)
  }
  t.strictSame(applyFrozenValues(files(), undefined).ignored, [])
  const live = freezeValues(files(), () => true)
  t.strictSame(
    applyFrozenValues(files({ sessions: [planned] }), live).ignored,
    [],
    'the service runs it itself',
  )
  t.equal(
    applyFrozenValues(files(), NONE_EXISTED).ignored.length,
    2,
    'nothing counts in a case that did not exist',
  )
  const part: FrozenValues = { ...NONE_EXISTED, whole: false }
  t.strictSame(
    applyFrozenValues(files({ proofs: [verified] }), part).ignored,
    [],
    'what is not listed is not compared',
  )
})

t.test('what was verified, and how far a session is', async (t) => {
  const tests = { run: 3, passed: 2, failed: 1 }
  t.equal(verificationOf(verified), 'test-log x')
  t.equal(verificationOf({ ...verified, intact: false }), null)
  t.equal(
    verificationOf({
      ...verified,
      tests: { ...tests, incomplete: true },
      exit_code: 0,
      accepted: 'Known',
    }),
    'test-log x, 2 of 3 passed, incomplete, exit code 0, accepted: Known',
  )
  const at = (...lines: Parameters<typeof trailOf>) =>
    progressOf({ ...session, trail: trailOf(...lines) })
  t.equal(at(['a']), `plan_ready 1 ${minute(0)}`)
  t.equal(at(['a'], ['session_sealed', { sha256: 'aa' }]), 'plan_ready 2 aa')
  t.equal(
    at(['evidence_recorded', { evidence_sha256: 'ee' }], ['session_completed']),
    'plan_ready 2 ee',
  )
  t.equal(at(), 'plan_ready 0 ')
})

const ignoredState: IgnoredChange = {
  kind: 'state',
  file: 'case.md',
  from: 'PLANNING',
  to: 'RESOLVED',
  was: 'PLANNING',
}
const ignoredProof: IgnoredChange = {
  kind: 'verification',
  file: 'proof/p1.md',
  from: 'a',
  to: 'b',
  id: 'p1',
  was: null,
}
const ignoredSession: IgnoredChange = {
  kind: 'session',
  file: 'sessions/2.md',
  from: 'created 1 x',
  to: 'approved 2 y',
  id: SESSION.id,
  was: 'created 1 x',
}
const ignoredItem: IgnoredChange = { kind: 'checklist', file: 'case.md', from: 'a', to: 'b', was }
const by = { case_id: CASE_ID, number: 7 }

t.test('what is ignored after a run stays so until a request confirms it', async (t) => {
  const all = [ignoredState, ignoredProof, ignoredSession, ignoredItem]
  t.strictSame(frozenOfIgnored(all), {
    state: 'PLANNING',
    required: [was],
    proofs: { p1: null },
    sessions: { [SESSION.id]: 'created 1 x' },
    whole: false,
  })
  t.equal(frozenOfIgnored([]), null)
  t.equal(
    frozenOfIgnored([{ ...ignoredState, by }]),
    null,
    'git may bring it again: `committed` has it',
  )
  t.ok(isEmpty({ proofs: {}, sessions: {}, whole: false }))
  for (const each of all) t.notOk(isEmpty(frozenOfIgnored([each])!), each.kind)
  t.notOk(isEmpty(NONE_EXISTED))
})

function after(
  frozen: FrozenValues,
  edit: Edit,
  parts: Partial<CaseContents> = {},
  ignored: IgnoredChange[] = [],
) {
  return frozenAfter(frozen, edit, { ignored, files: files(parts), isRunningHere: nothingRuns })
}

t.test('what the service writes counts', async (t) => {
  const rest = frozenOfIgnored([ignoredState, ignoredProof, ignoredSession, ignoredItem])!
  const state: Edit = { file: 'case', edit: { fields: { state: 'RESOLVED' } } }
  t.equal(after(frozen, state).state, 'RESOLVED')
  t.notOk('state' in after(rest, state), 'after a run later edits count')
  t.equal(after(frozen, { file: 'case', edit: { fields: { title: 'x' } } }), frozen)
  t.equal(after(rest, { file: 'ignored-state', state: 'BLOCKED' }).state, 'BLOCKED')
  const added = caseWith({ checklist: [item, { ...item, type: 'x' }] })
  const addItem: Edit = { file: 'case', edit: { addItem: { ...item, type: 'x' } } }
  t.strictSame(after(frozen, addItem, added).required, [was, { ...was, type: 'x' }])
  t.equal(after(rest, addItem, added), rest)

  const verify = (verification: object | null) =>
    ({ file: 'proof', id: 'p1', verification }) as Edit
  const other = { proofs: [{ ...verified, sha256: 'y' }] }
  t.equal(after(frozen, verify({}), other).proofs.p1, 'test-log y')
  t.equal(after(frozen, verify(null), other, [ignoredProof]), frozen, 'counting confirms nothing')
  t.equal(after(frozen, verify(null), other).proofs.p1, 'test-log y')
  t.strictSame(after(rest, verify({}), other, [ignoredProof]).proofs, {})

  const moved: Edit = { file: 'session', number: 2, edit: { fields: { state: 'approved' } } }
  const line: Edit = { file: 'session', number: 2, edit: { lines: [] } }
  const sessions = [{ ...session, state: 'approved' as const }]
  t.equal(after(frozen, line, { sessions }).sessions[SESSION.id], progressOf(sessions[0]!))
  t.equal(after(frozen, line, { sessions }, [ignoredSession]), frozen, 'a line confirms nothing')
  t.match(after(frozen, moved, { sessions }, [ignoredSession]).sessions[SESSION.id], /^approved/)
  t.equal(after(frozen, { ...moved, number: 9 }), frozen)
  t.strictSame(after(rest, moved, { sessions }, [ignoredSession]).sessions, {})
  const made: Edit = { file: 'new-session', session: { ...session, id: 'n' } }
  t.equal(after(frozen, made).sessions.n, progressOf(session))

  t.match(frozenWithCase(frozen, caseWith({ state: 'BLOCKED', checklist: [] }).case), {
    state: 'BLOCKED',
    required: [],
  })
  const confirmed = frozenWithCase(rest, files().case)
  t.notOk('state' in confirmed || 'required' in confirmed)
  t.strictSame(frozenWithSession(rest, session).sessions, {})
  t.equal(frozenWithSession(frozen, sessions[0]!).sessions[SESSION.id], progressOf(sessions[0]!))
})

const [line] = trailOf(['plan_approved', { by: 'x' }])
const committed = (change: IgnoredChange, lines?: string[]) =>
  ({ ...change, by, ...(lines && { lines }) }) as CommittedChange

t.test('what a run committed does not count where git brings it', async (t) => {
  const base: FrozenValues = { proofs: {}, sessions: {}, whole: false }
  const apply = (change: CommittedChange, parts: Partial<CaseContents>) =>
    applyFrozenValues(files(parts), { ...base, committed: [change] }).ignored.map(
      ({ kind, by }) => `${kind} ${by?.number}`,
    )
  const state = committed(ignoredState)
  t.strictSame(apply(state, caseWith({ state: 'RESOLVED' })), ['state 7'])
  t.strictSame(apply(state, {}), [], 'the files do not have it')
  t.strictSame(apply(committed(ignoredItem), caseWith({ checklist: [] })), ['checklist 7'])
  t.strictSame(apply(committed(ignoredItem), {}), [])
  const proof = committed({ ...ignoredProof, to: 'verified (test-log x)' })
  t.strictSame(apply(proof, {}), ['verification 7'])
  t.strictSame(apply(proof, { proofs: [{ ...verified, sha256: 'y' }] }), [])
  const went = { ...session, trail: [...session.trail, { ...line!, number: 40 }] }
  const bySession = committed(ignoredSession, [lineKey(line!)])
  t.strictSame(
    apply(bySession, { sessions: [went] }),
    ['session 7'],
    'by its lines, whatever their numbers',
  )
  t.strictSame(apply(bySession, {}), [])
  t.strictSame(apply(committed({ ...ignoredSession, to: progressOf(session) }), {}), ['session 7'])
  t.not(committedKey(state), committedKey({ ...state, by: { ...by, number: 8 } }))

  const whole = { ...frozen, committed: [state, proof] }
  const left = (edit: Edit, parts: Partial<CaseContents> = {}) =>
    after(whole, edit, parts).committed?.map(({ kind, from }) => `${kind} ${from}`)
  t.strictSame(
    left({ file: 'case', edit: { fields: { state: 'RESOLVED' } } }),
    ['verification a'],
    'confirmed',
  )
  t.strictSame(left({ file: 'case', edit: { fields: { state: 'BLOCKED' } } }), [
    'state BLOCKED',
    'verification a',
  ])
  t.strictSame(left({ file: 'ignored-state', state: 'RESOLVED' }), [
    'state RESOLVED',
    'verification a',
  ])
  const verification = { verified_at: '', accepted: null }
  t.strictSame(left({ file: 'proof', id: 'p1', verification } as Edit), ['state PLANNING'])
  t.strictSame(left({ file: 'proof', id: 'p1', verification: null } as Edit), [
    'state PLANNING',
    'verification a',
  ])
  t.strictSame(left({ file: 'proof', id: 'p2', verification } as Edit), [
    'state PLANNING',
    'verification a',
  ])
  const lost = { ...base, committed: [committed(ignoredItem), state, bySession] }
  const rest = frozenWithCase(lost, caseWith({ state: 'RESOLVED', checklist: [] }).case)
  t.strictSame(
    rest.committed?.map(({ kind }) => kind),
    ['session'],
  )
  t.notOk('committed' in frozenWithSession(rest, session))
})

t.test('an ignored change says how to confirm it', async (t) => {
  const rows: [IgnoredChange, RegExp][] = [
    [
      ignoredState,
      /^state: PLANNING was changed to RESOLVED in the file while a session executed, .* \(PUT \/cases\/c\/state\), or/,
    ],
    [ignoredItem, /item "a" was changed to "b".*memory\/case\.md/],
    [ignoredProof, /from a to b.*\(PUT \/cases\/c\/proof\/p1\/verify\)/],
    [
      ignoredSession,
      /^sessions\/2\.md was changed from created to approved .*\(PUT \/cases\/c\/memory\/2\.md\)/,
    ],
    [{ ...ignoredSession, was: null }, /^sessions\/2\.md was created in the file/],
    [{ ...ignoredState, by }, /RESOLVED by session 7 of case .* in git, so/],
    [{ ...ignoredState, by: { ...by, case_id: 'c' } }, /by session 7 in git/],
  ]
  for (const [change, message] of rows)
    t.match(ignoredChangeProblem('c', change), {
      code: 'changed_during_run',
      file: change.file,
      message,
    })
  t.match(ignoredChangeProblem('c', ignoredState, 'node'), { message: /left behind \(node\)/ })
})
