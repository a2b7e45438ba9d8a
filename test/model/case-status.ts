import t from 'tap'
import type { CaseContents } from '../../src/model/case-contents.ts'
import type { CaseState } from '../../src/model/case-state.ts'
import { type CaseFacts, type OfferedFile, statusOf } from '../../src/model/case-status.ts'
import type { Proof } from '../../src/model/proof.ts'
import type { Session } from '../../src/model/session.ts'
import type { SessionState } from '../../src/model/session-state.ts'
import { whatFailed } from '../../src/model/session-status.ts'
import { CASE, NOW, PROOF, SESSION } from '../fixtures/records.ts'

const ITEM = { description: 'All tests pass', type: 'test-log', required: true, checked: false }
const TESTS = { run: 23, passed: 23, failed: 0 }
const PASSED: OfferedFile = {
  artifact: '1-test.tap',
  type: 'test-log',
  note: '23 of 23 tests passed',
  why_not: null,
  session: { number: 1 },
}
const PATCH = { ...PASSED, artifact: '1-changes.patch', type: 'diff', note: 'a.js: +1 -1' }

const session = (state: SessionState, fields: Partial<Session> = {}): Session => ({
  ...SESSION,
  number: 1,
  state,
  ...fields,
})
const proof = (fields: Partial<Proof> = {}): Proof => ({ ...PROOF, tests: TESTS, ...fields })

function folder(state: CaseState, fields: Partial<CaseContents> & { reason?: string } = {}) {
  const { reason = null, ...rest } = fields
  const none = { sessions: [], proofs: [], problems: [], ignored: [] }
  return { case: { ...CASE, state, reason, checklist: [ITEM] }, ...none, ...rest }
}

const facts = (fields: Partial<CaseFacts> = {}): CaseFacts => ({
  offered: [],
  unapplied: [],
  start: { planner: null, source: 'runbook.md', terminal: null },
  queue: null,
  planSource: 'runbook.md',
  ...fields,
})

t.test('from the first plan to RESOLVED there is one next act, and after it none', async (t) => {
  const complete = session('complete', { tests: TESTS })
  const done = { sessions: [complete] }
  const work = [{ number: 1, text: 'The work of session 1 is not in main yet.' }]
  const gone = [{ number: 1, text: 'The worktree was discarded.', isDiscarded: true }]
  const verified = { proofs: [proof({ verified: true, verified_at: NOW })], ...done }
  const table: [CaseContents, CaseFacts, label: string | null, said: string][] = [
    [folder('OPEN'), facts(), 'Plan this case', 'The plan comes from runbook.md.'],
    [
      folder('OPEN'),
      facts({ start: { planner: null, source: null, terminal: null } }),
      'Set up an agent',
      'There is nothing to plan with yet.',
    ],
    [
      folder('PLANNING', { sessions: [session('plan_ready')] }),
      facts(),
      'Review the plan',
      'The plan of session 1 waits for approval.',
    ],
    [
      folder('IMPLEMENTING', { sessions: [session('executing')] }),
      facts(),
      'Watch',
      'Session 1 is executing.',
    ],
    [
      folder('IMPLEMENTING', { sessions: [session('failed')] }),
      facts(),
      'Plan again',
      'The plan came from runbook.md: fix that first.',
    ],
    [
      folder('VERIFYING', done),
      facts({ offered: [PATCH, PASSED] }),
      'Attach 1-test.tap as "All tests pass"',
      'Session 1 passed 23 of 23 tests. 1-test.tap (23 of 23 tests passed) would meet',
    ],
    [
      folder('VERIFYING', done),
      facts({ offered: [PATCH], start: { planner: 'Claude', source: null, terminal: null } }),
      'Run the tests',
      'No candidate would meet "All tests pass". Run the tests in a step',
    ],
    [
      folder('VERIFYING', done),
      facts({ offered: [PATCH], start: { planner: null, source: 'runbook.md', terminal: null } }),
      'Edit runbook.md',
      'No candidate would meet "All tests pass".',
    ],
    [folder('WATCHLIST', {}), facts(), null, 'parked until its state is changed.'],
    [
      folder('VERIFYING', { proofs: [proof()], ...done }),
      facts({ offered: [PATCH] }),
      'Read and verify',
      'It would meet "All tests pass".',
    ],
    [
      folder('VERIFYING', verified),
      facts({ unapplied: work }),
      'Apply the work',
      'The work of session 1 is not in main yet.',
    ],
    [folder('VERIFYING', verified), facts(), 'Resolve', 'Proof requirements are met.'],
    [folder('RESOLVED', verified), facts(), null, 'Nothing is left to do.'],
    [
      folder('RESOLVED', verified),
      facts({ unapplied: work }),
      'Apply the work',
      'The case is resolved.',
    ],
    [folder('VERIFYING', verified), facts({ unapplied: gone }), 'Resolve', gone[0]!.text],
    [folder('RESOLVED', verified), facts({ unapplied: gone }), null, 'The case is resolved.'],
    [folder('WONT_FIX', { reason: 'Too dear.' }), facts(), null, 'Too dear.'],
    [folder('NEEDS_USER_INPUT', { reason: 'How long?' }), facts(), 'Answer', 'How long?'],
    [
      folder('BLOCKED', { reason: 'Waiting for operations.' }),
      facts(),
      null,
      'This case is blocked. Waiting for operations.',
    ],
  ]
  for (const [of, given, label, said] of table) {
    const { headline, detail, next } = statusOf(of, given)
    t.equal(next?.label ?? null, label, said)
    t.match(`${headline} ${detail}`, said)
  }
})

t.test('a session that has ended says how, and what its case needs', async (t) => {
  const reason = 'The run stopped: step a failed.'
  const failedBy = (reason: string) =>
    session('failed', {
      trail: [
        {
          number: 1,
          time: NOW,
          event: 'session_state_changed',
          fields: { new_state: 'failed', reason },
        },
      ],
    })
  const one = (each: Session) => {
    const more = { rows: [], steps: [], planSource: 'runbook.md', terminal: null, queue: null }
    const about = { session: each, planErrors: 0, isBroken: false, objection: null, ...more }
    return statusOf(folder('OPEN', { sessions: [each] }), facts({ offered: [PASSED] }), about)
  }
  const stopped = 'The service was stopped while the session was executing.'
  t.equal(one(failedBy(stopped)).detail, 'Plan again to run it.', 'nothing needs a fix')
  t.match(one(failedBy(reason)).detail, /^The plan came from runbook\.md/)
  t.match(one(session('complete', { tests: TESTS })), {
    headline: 'Session 1 passed 23 of 23 tests.',
    detail: /^1-test\.tap/,
    next: { act: 'attach', artifact: '1-test.tap', session: 1, proof_type: 'test-log' },
  })
  t.match(one(session('abandoned')), {
    headline: 'Session 1 was stopped: no reason given.',
    next: { act: 'plan' },
  })
  t.equal(
    whatFailed(session('complete', { tests: { run: 0, passed: 0, failed: 0 } }), []),
    'no tests ran',
  )
})
