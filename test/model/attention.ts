import t from 'tap'
import { type AttentionKind, attentionOf, runningSession } from '../../src/model/attention.ts'
import type { CaseContents } from '../../src/model/case-contents.ts'
import type { CaseState } from '../../src/model/case-state.ts'
import type { Problem, ProblemCode } from '../../src/model/problem.ts'
import type { Proof } from '../../src/model/proof.ts'
import type { Session } from '../../src/model/session.ts'
import type { SessionState } from '../../src/model/session-state.ts'
import { CASE, NOW, PROOF, SESSION } from '../fixtures/records.ts'

const idOf = (number: number) => `00000000-0000-4000-8000-00000000000${number}`

const session = (number: number, state: SessionState): Session => ({
  ...SESSION,
  id: idOf(number),
  number,
  state,
})

const LATER = '2027-01-01T00:00:00.000Z'

/** Failed in a step, in a case that was IMPLEMENTING. */
const failed = (number: number): Session => ({
  ...session(number, 'failed'),
  tests: { run: 23, passed: 21, failed: 2 },
  trail: [
    {
      number: 9,
      time: '2026-12-01T00:00:00.000Z',
      event: 'session_state_changed',
      fields: {
        old_state: 'executing',
        new_state: 'failed',
        reason: 'The run stopped: step test exited with 1, expected 0.',
        case_state: 'IMPLEMENTING',
      },
    },
  ],
})

const proof = (fields: Partial<Proof> = {}): Proof => ({
  ...PROOF,
  id: idOf(9),
  session_id: null,
  type: 'log',

  verified: true,
  verified_at: NOW,
  ...fields,
})

const problem = (code: ProblemCode, file: string): Problem => ({
  code,
  file,
  line: null,
  message: 'm',
})

function folder(state: CaseState, fields: Partial<CaseContents> & { reason?: string } = {}) {
  const { reason = null, ...rest } = fields
  return {
    case: { ...CASE, state, reason },
    sessions: [],
    proofs: [],
    problems: [],
    ignored: [],
    ...rest,
  }
}

type Row = [
  name: string,
  folder: CaseContents,
  kind: AttentionKind | null,
  session?: number | null,
  text?: string,
]

const table: Row[] = [
  ['a new case needs nothing', folder('OPEN'), null],
  [
    'a plan that waits comes first, and the newest of two is meant',
    folder('BLOCKED', {
      sessions: [session(1, 'plan_ready'), session(2, 'plan_ready'), session(3, 'complete')],
      problems: [problem('trail_changed', 'sessions/2.md')],
    }),
    'plan',
    2,
    'the plan of session 2 waits for approval; sessions/2.md: m',
  ],
  [
    'a plan in a broken file is a problem',
    folder('PLANNING', {
      sessions: [session(1, 'plan_ready')],
      problems: [problem('merge_conflict', 'sessions/1.md')],
    }),
    'problem',
    null,
    'sessions/1.md: m',
  ],
  [
    'so is one that was put there while another session ran',
    folder('PLANNING', {
      sessions: [session(1, 'plan_ready')],
      problems: [problem('changed_during_run', 'sessions/1.md'), problem('missing', '.')],
      ignored: [
        { kind: 'session', file: 'sessions/1.md', from: 'a', to: 'b', id: idOf(1), was: null },
      ],
    }),
    'problem',
    null,
    '2 problems, the first: sessions/1.md: m',
  ],
  [
    'a blocked case says why, on one line',
    folder('BLOCKED', { reason: 'Waiting for\noperations.' }),
    'blocked',
    null,
    'Waiting for operations.',
  ],
  [
    'and without a reason says that',
    folder('NEEDS_USER_INPUT', { sessions: [session(1, 'complete')] }),
    'question',
    null,
    'no reason is given',
  ],
  [
    'a session that is complete waits for proof, also where the gate is open',
    folder('VERIFYING', { sessions: [session(1, 'complete')], proofs: [proof()] }),
    'proof',
    1,
    'session 1 is complete and has no proof',
  ],
  [
    'proofs wait to be verified',
    folder('VERIFYING', { proofs: [proof({ verified: false }), proof({ intact: false })] }),
    'proof',
    null,
    '2 proofs are not verified yet',
  ],
  [
    'a required item that nothing meets needs the operator',
    folder('VERIFYING', {
      case: {
        ...CASE,
        state: 'VERIFYING',
        reason: null,
        checklist: [
          { description: 'All tests pass', type: 'test-log', required: true, checked: false },
        ],
      },
      proofs: [proof()],
    }),
    'proof',
    null,
    '"All tests pass" needs a verified test-log',
  ],
  [
    'with the gate open the case can be resolved',
    folder('VERIFYING', {
      sessions: [session(1, 'complete')],
      proofs: [proof({ session_id: idOf(1) })],
    }),
    'gate_open',
    null,
    'the proof gate is open, so the case can be resolved',
  ],
  [
    'RESOLVED in the file with the gate shut is not closed',
    folder('RESOLVED', { sessions: [session(1, 'complete')] }),
    'proof',
    1,
  ],
  [
    'a session that executes is not the operator’s turn',
    folder('IMPLEMENTING', { sessions: [session(1, 'failed'), session(2, 'executing')] }),
    'running',
    2,
    'session 2 is executing',
  ],
  [
    'a failed session says why, and in which step',
    folder('IMPLEMENTING', { sessions: [session(1, 'complete'), failed(2)], proofs: [proof()] }),
    'failed',
    2,
    'session 2 failed: step test exited with 1, expected 0; 2 of 23 tests failed',
  ],
  [
    'one without a trail is failed all the same',
    folder('IMPLEMENTING', { sessions: [session(1, 'failed')] }),
    'failed',
    1,
    'session 1 failed: no reason is recorded',
  ],
  ['a question comes before it', folder('NEEDS_USER_INPUT', { sessions: [failed(1)] }), 'question'],
  [
    'a newer session answers it, whatever it is',
    folder('IMPLEMENTING', { sessions: [failed(1), session(2, 'abandoned')] }),
    null,
  ],
  [
    'so does an older one that goes on behind it',
    folder('IMPLEMENTING', {
      sessions: [{ ...session(1, 'complete'), trail: [], completed_at: LATER }, failed(2)],
    }),
    'proof',
    1,
  ],
  [
    'and a state that the operator sets, OPEN as well',
    folder('PLANNING', { sessions: [failed(1)] }),
    null,
  ],
  [
    'without a record of the state before, only OPEN was set since',
    folder('OPEN', { sessions: [session(1, 'failed')] }),
    null,
  ],
  [
    'and a proof that is attached behind it',
    folder('IMPLEMENTING', {
      sessions: [failed(1)],
      proofs: [proof({ created_at: LATER, verified: false, verified_at: null })],
    }),
    'proof',
  ],
  [
    'or one that is verified behind it',
    folder('IMPLEMENTING', { sessions: [failed(1)], proofs: [proof({ verified_at: LATER })] }),
    'gate_open',
  ],
  ['a closed case needs no look at it', folder('WATCHLIST', { sessions: [failed(1)] }), null],
  [
    'while a session runs, the evidence of an earlier one waits',
    folder('VERIFYING', {
      sessions: [session(1, 'complete'), session(2, 'planning')],
      proofs: [proof({ verified: false })],
    }),
    'running',
    2,
  ],
  [
    'one of another machine is a problem, and does not run here',
    folder('IMPLEMENTING', {
      sessions: [session(1, 'executing')],
      problems: [problem('foreign_session', 'sessions/1.md')],
    }),
    'problem',
  ],
  ...(['NON_ISSUE', 'WONT_FIX', 'COMPRESSED', 'WATCHLIST'] as const).map(
    (state): Row => [
      `${state} needs no proof, and no look at what runs`,
      folder(state, {
        sessions: [session(1, 'complete'), session(2, 'planning')],
        proofs: [proof({ verified: false })],
      }),
      null,
    ],
  ),
  ['RESOLVED with its gate open needs nothing', folder('RESOLVED', { proofs: [proof()] }), null],
  [
    'but a plan that waits there does',
    folder('RESOLVED', { proofs: [proof()], sessions: [session(1, 'plan_ready')] }),
    'plan',
    1,
  ],
  [
    'and so does a problem',
    folder('WONT_FIX', { problems: [problem('bad_encoding', 'notes.md')] }),
    'problem',
  ],
]

t.test('what a case needs from the operator', async (t) => {
  for (const [name, given, kind, number = null, text] of table) {
    await t.test(name, async (t) => {
      const needs = attentionOf(given)
      if (kind === null) return t.equal(needs, null)
      t.match(needs, {
        kind,
        session: number,
        session_id: number === null ? null : idOf(number),
      })
      if (text !== undefined) t.equal(needs?.text, text)
    })
  }
})

t.test('a long reason is cut, and stays whole characters', async (t) => {
  const { text } = attentionOf(folder('BLOCKED', { reason: `${'x'.repeat(158)}😀😀` }))!
  t.ok(text.length < 180 && text.isWellFormed(), text)
  t.match(text, /…$/)
})

t.test('what runs here is not what runs elsewhere', async (t) => {
  const both = folder('PLANNING', {
    sessions: [session(1, 'planning'), session(2, 'executing')],
    problems: [problem('foreign_session', 'sessions/2.md')],
  })
  t.equal(runningSession(both)?.number, 1)
})
