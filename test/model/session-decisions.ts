import t from 'tap'
import { CASE_STATES, SESSION_TYPES, stateAfter } from '../../src/model/case-state.ts'
import type { Comment } from '../../src/model/comment.ts'
import {
  abandon,
  approve,
  caseMove,
  createSession,
  editPlan,
  endRun,
  leaveLine,
  liveSession,
  requireReadPlan,
  revise,
} from '../../src/model/decide-session.ts'
import {
  isFinal,
  isIsolated,
  providerText,
  type Session,
  sessionMove,
} from '../../src/model/session.ts'
import {
  hasEnded,
  isActive,
  isPlanning,
  isStateChange,
  nextState,
  SESSION_STATES,
  type SessionState,
  type Trigger,
} from '../../src/model/session-state.ts'
import { lineInQueue, standingApproval } from '../../src/model/trail.ts'
import { eventsOfLines } from '../../src/model/trail-lines.ts'
import { CASE, PROOF, SESSION } from '../fixtures/records.ts'
import { folderWith, minute, movesOf, trailOf } from '../fixtures/trail-of.ts'

const NOW = minute(60)

const session = (state: SessionState, parts: Partial<Session> = {}): Session => ({
  ...SESSION,
  state,
  ...parts,
})

t.test('from which states a session may go where', async (t) => {
  const triggers: Trigger[] = [
    'context_loaded',
    'planned',
    'approve',
    'revise',
    'start',
    'leave_line',
    'finish',
    'fail',
    'abandon',
  ]
  const moves = triggers.map((trigger) => {
    const from = SESSION_STATES.filter((state) => {
      try {
        return nextState(state, trigger)
      } catch {
        return false
      }
    })
    return `${trigger}: ${from.join(' ')} → ${nextState(from[0]!, trigger)}`
  })
  t.strictSame(moves, [
    'context_loaded: created → planning',
    'planned: planning → plan_ready',
    'approve: plan_ready → approved',
    'revise: plan_ready → planning',
    'start: approved → executing',
    'leave_line: approved → plan_ready',
    'finish: executing → complete',
    'fail: created planning approved executing → failed',
    'abandon: created planning plan_ready approved executing complete → abandoned',
  ])
  for (const state of ['approved', 'executing'] as const)
    t.throws(() => nextState(state, 'approve'), { code: 'already_active' }, state)
  for (const state of ['planning', 'complete'] as const)
    t.throws(() => nextState(state, 'approve'), { code: 'wrong_state' }, state)
  t.throws(() => nextState('planning', 'finish'), {
    message: /is planning; it must be executing\.$/,
  })
  t.ok(isStateChange('approved', 'plan_ready'))
  t.notOk(isStateChange('failed', 'abandoned'))
  const where = (holds: (state: SessionState) => boolean) => SESSION_STATES.filter(holds).join(' ')
  t.equal(where(isActive), 'created planning approved executing')
  t.equal(where(isPlanning), 'created planning')
  t.equal(where(hasEnded), 'complete failed abandoned')
})

t.test('how a case moves with its sessions', async (t) => {
  const rows = (['created', 'approved', 'completed'] as const).flatMap((milestone) =>
    SESSION_TYPES.map((type) => {
      const moved = CASE_STATES.filter((state) => stateAfter(milestone, type, state) !== state)
      const to = [...new Set(moved.map((state) => stateAfter(milestone, type, state)))]
      return `${milestone} ${type}: ${moved.join(' ')} → ${to}`
    }),
  )
  t.strictSame(rows, [
    'created planning: OPEN → PLANNING',
    'created implementing: OPEN → PLANNING',
    'created investigating: OPEN → INVESTIGATING',
    'created verifying: OPEN → PLANNING',
    'approved planning: OPEN INVESTIGATING PLANNING → IMPLEMENTING',
    'approved implementing: OPEN INVESTIGATING PLANNING → IMPLEMENTING',
    'approved investigating: OPEN PLANNING → INVESTIGATING',
    'approved verifying: OPEN INVESTIGATING PLANNING → VERIFYING',
    'completed planning:  → ',
    'completed implementing: OPEN INVESTIGATING PLANNING IMPLEMENTING NEEDS_USER_INPUT → VERIFYING',
    'completed investigating:  → ',
    'completed verifying: OPEN INVESTIGATING PLANNING IMPLEMENTING NEEDS_USER_INPUT → VERIFYING',
  ])
  t.strictSame(caseMove(folderWith(), 'created', 'implementing'), [
    { file: 'case', edit: { fields: { state: 'PLANNING' } }, acts: [] },
  ])
  const ignored = [
    { kind: 'state', file: 'case.md', from: 'OPEN', to: 'RESOLVED', was: 'OPEN' } as const,
  ]
  t.strictSame(
    caseMove(folderWith({ ignored: [...ignored] }), 'created', 'implementing'),
    [{ file: 'ignored-state', state: 'PLANNING' }],
    'an ignored state stays in the file',
  )
  t.strictSame(
    caseMove(folderWith({ case: { ...CASE, state: 'BLOCKED' } }), 'created', 'planning'),
    [],
  )
})

t.test('a new session has its first line, and moves its case', async (t) => {
  const wanted = { id: 'a', number: 3, type: 'implementing', provider: 'claude' } as const
  const [made, moved] = createSession(
    folderWith(),
    { ...wanted, note: '', again: 2, isolation: 'worktree' },
    NOW,
  )
  t.match(made, {
    file: 'new-session',
    session: {
      ...wanted,
      state: 'created',
      started_at: NOW,
      case_title: CASE.title,
      completed_at: null,
    },
  })
  const { trail } = (made as { session: Session }).session
  t.strictSame(trail, [
    {
      number: 1,
      time: NOW,
      event: 'session_created',
      fields: {
        type: 'implementing',
        provider: 'claude',
        isolation: 'worktree',
        again: 2,
        session_id: 'a',
      },
    },
  ])
  t.ok(isIsolated({ trail }))
  t.notOk(isIsolated({ trail: trailOf(['x'], ['session_created', { isolation: 'worktree' }]) }))
  t.match(moved, { file: 'case', edit: { fields: { state: 'PLANNING' } } })
  t.equal(providerText({ provider: 'claude' }), 'claude')
  t.equal(providerText({ provider: 'claude', origin: 'terminal' }), 'claude in a terminal')
  t.equal(providerText({ provider: 'other', origin: 'terminal' }), 'an agent in a terminal')
})

t.test('one move writes its line, its fields, and the seal that ends a session', async (t) => {
  const trail = trailOf(
    ['session_created', { provider: 'claude' }],
    ['session_state_changed', { old_state: 'approved', new_state: 'executing' }],
  )
  const executing = session('executing', { trail })
  const finished = sessionMove(executing, {
    trigger: 'finish',
    now: NOW,
    caseState: 'OPEN',
    reason: 'r',
  })
  t.strictSame(finished, {
    fields: { state: 'complete', completed_at: NOW },
    lines: [
      ['agent_completed', { provider: 'claude', mode: 'work', state: 'complete' }],
      ['session_state_changed', { old_state: 'executing', new_state: 'complete', reason: 'r' }],
      ['session_completed', {}, { reason: 'r', state: 'complete' }],
    ].map(([event, fields, line]) => ({
      number: 3,
      time: NOW,
      event,
      fields,
      ...(line ? { written: { event, fields: line } } : {}),
    })),
  })
  const failed = sessionMove(executing, { trigger: 'fail', now: NOW, caseState: 'PLANNING' })
  t.match(failed, { seal: { time: NOW }, lines: [{ fields: { case_state: 'PLANNING' } }] })
  const complete = session('complete', { completed_at: minute(1) })
  const gone = sessionMove(complete, { trigger: 'abandon', now: NOW, comments: [] })
  t.match(gone, { seal: { time: NOW }, fields: { state: 'abandoned', completed_at: minute(1) } })
  t.notOk('comments' in gone)
  t.notOk(
    'completed_at' in sessionMove(session('planning'), { trigger: 'planned', now: NOW }).fields!,
  )
})

t.test('which sessions have ended', async (t) => {
  const proofs = [{ ...PROOF, session_id: SESSION.id }]
  const rows: [Session, typeof proofs, boolean][] = [
    [session('failed'), [], true],
    [session('abandoned'), [], true],
    [session('complete'), [], false],
    [session('complete'), proofs, true],
    [session('complete'), [{ ...PROOF, session_id: 'another' }], false],
    [session('executing'), proofs, false],
    [session('complete', { trail: trailOf(['session_sealed']) }), [], true],
  ]
  for (const [each, proofs, ended] of rows) {
    t.equal(isFinal(each, proofs), ended, `${each.state}, ${proofs.length}`)
    const folder = folderWith({ sessions: [each], proofs })
    if (ended) t.throws(() => liveSession(folder, each.id), { code: 'session_ended' })
    else t.equal(liveSession(folder, each.id), each)
  }
  t.throws(() => liveSession(folderWith(), 'x'), { code: 'not_found' })
})

const READY = session('plan_ready')
const folder = (parts: Partial<Session> = {}) =>
  folderWith({ sessions: [{ ...READY, ...parts }], case: { ...CASE, state: 'PLANNING' } })
const sent = {
  text: 'Do it.',
  note: 'Do it.',
  comments: '',
  changes: [{ is: 'marked' as const, id: 'c1', sent: true }],
  lines: [],
}
const plan = {
  sha256: 'aa',
  approved: 'aa',
  by: { who: 'Ada', from: 'console' as const },
}

t.test('a plan is approved as it is, once, with the words that were sent', async (t) => {
  const [edit, move] = approve(folder(), READY.id, { ...plan, sent }, NOW)
  t.match(edit, {
    number: 2,
    edit: {
      fields: { state: 'approved', plan_sha256: 'aa' },
      comments: sent.changes,
      lines: [
        {
          number: 3,
          event: 'plan_approved',
          fields: {
            by: 'Ada',
            via: 'console',
            plan_sha256: 'aa',
            note: 'Do it.',
          },
        },
        { number: 3, event: 'session_state_changed', fields: { new_state: 'approved' } },
      ],
    },
  })
  t.match(move, { file: 'case', edit: { fields: { state: 'IMPLEMENTING' } } })
  const other = { ...plan, approved: 'bb', sent }
  t.throws(() => approve(folder(), READY.id, other, NOW), {
    code: 'plan_changed',
    extra: { plan_sha256: 'aa' },
  })
  t.throws(() => approve(folder({ state: 'approved' }), READY.id, other, NOW), {
    code: 'already_active',
  })
  const queued = approve(folder(), READY.id, { ...plan, sent }, NOW, {
    waits_for: null,
    head: null,
  })
  t.equal(queued.length, 1, 'one that waits moves its case later')
  t.match(queued, [
    { edit: { lines: [{}, {}, { event: 'queued', fields: { comments: ['c1'] } }] } },
  ])
})

const QUEUED = [
  ...movesOf('created', 'planning', 'plan_ready'),
  ['plan_approved', { plan_sha256: 'aa' }],
  ...movesOf('plan_ready', 'approved'),
  ['queued', { waits_for: null, comments: ['c1', 'c2'] }],
] as [string, Record<string, unknown>][]

t.test('who leaves the line takes approval and comments back', async (t) => {
  const trail = trailOf(...QUEUED)
  t.equal(lineInQueue(trail)?.number, 5)
  t.equal(standingApproval(trail)?.number, 3)
  const comment = (id: string, resolved = false) => ({ id, resolved, sent: true }) as Comment
  const texts = {
    hypothesis: '',
    plan: '',
    output: '',
    changes: '',
    candidates: [],
    comments: [comment('c1'), comment('c2', true), comment('c3')],
  }
  const waiting = { ...folder({ state: 'approved', trail }), texts }
  const [edit] = leaveLine(waiting, READY.id, { reason: 'why' }, NOW)
  t.match(edit, {
    edit: {
      fields: { state: 'plan_ready', plan_sha256: null },
      comments: [{ is: 'marked', id: 'c1', sent: false }],
      lines: [{ event: 'session_state_changed', fields: { reason: 'why' } }],
    },
  })
  t.equal((edit as { edit: { comments: unknown[] } }).edit.comments.length, 1)
  const edited = { sha256: 'bb', inRun: true }
  t.match(leaveLine(waiting, READY.id, { reason: 'why', edited }, NOW), [
    {
      edit: {
        lines: [{ event: 'plan_edited', fields: { by: 'hand', sha256: 'bb', in_run: true } }, {}],
      },
    },
  ])
  const left = trailOf(...QUEUED, ...movesOf('approved', 'plan_ready'))
  t.equal(lineInQueue(left), undefined)
  t.equal(standingApproval(left), undefined)
  const again = trailOf(
    ...QUEUED,
    ...movesOf('approved', 'plan_ready'),
    ['plan_approved', {}],
    ...movesOf('plan_ready', 'approved'),
  )
  t.equal(lineInQueue(again), undefined, 'approved again, it does not wait by the older line')
  t.equal(standingApproval(again)?.number, 7)
})

t.test('only a plan that waits can be edited', async (t) => {
  const edit = { plan: 'New', sha256: 'bb', hypothesis: 'H', hypothesis_sha256: 'cc' }
  t.match(editPlan(folder(), READY.id, edit, NOW), [
    {
      edit: {
        texts: { plan: 'New', hypothesis: 'H' },
        lines: [
          {
            event: 'plan_edited',
            fields: { by: 'request', sha256: 'bb', hypothesis_sha256: 'cc' },
          },
        ],
      },
    },
  ])
  const [only] = editPlan(folder(), READY.id, { plan: 'New', sha256: 'bb' }, NOW)
  t.strictSame((only as { edit: { texts: object } }).edit.texts, { plan: 'New' })
  const queued = folder({ state: 'approved', trail: trailOf(...QUEUED) })
  t.throws(() => editPlan(queued, READY.id, edit, NOW), { message: /waits in line/ })
  t.throws(() => editPlan(folder({ state: 'planning' }), READY.id, edit, NOW), {
    code: 'wrong_state',
    message: /the session is planning/,
  })
})

t.test('a plan that a run may have written has to be read', async (t) => {
  const written = ['plan_written', { sha256: 'aa' }] as [string, Record<string, unknown>]
  const byHand = (fields = {}) =>
    ['plan_edited', { by: 'hand', sha256: 'bb', ...fields }] as [string, Record<string, unknown>]
  const request = ['plan_edited', { by: 'request', sha256: 'bb' }] as typeof written
  const rows: [
    name: string,
    trail: (typeof written)[],
    hash: string,
    touched: boolean,
    isRefused: boolean,
  ][] = [
    ['as it was written', [written], 'aa', true, false],
    ['changed, no run could', [written], 'bb', false, false],
    ['changed, a run could', [written], 'bb', true, true],
    ['changed in a run, as its line says', [written, byHand({ in_run: true })], 'bb', false, true],
    ['changed by hand at another time', [written, byHand()], 'bb', false, false],
    ['changed by a request', [written, request], 'bb', true, false],
    ['no plan of its own', [], 'bb', true, false],
  ]
  for (const [name, lines, hash, touched, isRefused] of rows) {
    const ask = () => requireReadPlan({ ...READY, trail: trailOf(...lines) }, hash, touched)
    if (isRefused) t.throws(ask, { code: 'plan_changed' }, name)
    else t.doesNotThrow(ask, name)
  }
})

t.test('the end of a run has its lines in order', async (t) => {
  const tests = { run: 2, passed: 2, failed: 0 }
  const results = [{ event: 'out_of_scope' as const, fields: { files: ['x'] } }]
  const begun = trailOf(
    ['session_created', { provider: 'runbook' }],
    ...movesOf('approved', 'executing'),
  )
  const at = folder({ state: 'executing', trail: begun })
  const ended = endRun(
    at,
    READY.id,
    { mode: 'work', state: 'complete', results, made: { tests }, evidence: { tests } },
    NOW,
  )
  const { lines, fields } = (ended as { edit: { lines: { event: string }[]; fields: object } }).edit
  t.strictSame(
    lines.map(({ event }) => event),
    ['out_of_scope', 'tests_read', 'agent_completed', 'session_state_changed', 'session_completed'],
  )
  const written = (event: string, fields: object) =>
    eventsOfLines([{ number: 1, time: NOW, event, fields: { state: 'failed', ...fields } }])
  t.strictSame(
    written('session_failed', { diff: null, tests: [1], scope_unreadable: null }).map(
      ({ event }) => event,
    ),
    ['session_state_changed'],
    'what a person wrote there is no event',
  )
  t.match(fields, { state: 'complete', tests })
  const failed = endRun(at, READY.id, { mode: 'work', state: 'failed', reason: 'no' }, NOW)
  t.match(failed, {
    edit: {
      seal: { time: NOW },
      lines: [
        {
          event: 'agent_completed',
          fields: { mode: 'work', state: 'failed', provider: 'runbook' },
        },
        { fields: { reason: 'no', case_state: 'PLANNING' } },
      ],
    },
  })
  t.equal((failed as typeof ended & { edit: { lines: object[] } }).edit.lines.length, 2)
  t.match(
    endRun(
      folder({ state: 'planning' }),
      READY.id,
      { mode: 'plan', state: 'plan_ready', texts: { plan: 'p' } },
      NOW,
    ),
    {
      edit: { fields: { state: 'plan_ready' }, texts: { plan: 'p' } },
    },
  )
})

t.test('a plan goes back with what was said, and a session ends with the reason', async (t) => {
  t.match(revise(folder(), READY.id, { ...sent, text: 'No.', note: 'No.' }, NOW), [
    {
      edit: {
        comments: sent.changes,
        fields: { state: 'planning' },
        lines: [{ fields: { reason: 'No.' } }],
      },
    },
  ])
  t.match(abandon(folder(), READY.id, 'Enough', NOW), [
    {
      edit: { fields: { state: 'abandoned' }, seal: {}, lines: [{ fields: { reason: 'Enough' } }] },
    },
  ])
  const [without] = abandon(folder(), READY.id, undefined, NOW)
  t.notOk('reason' in (without as { edit: { lines: { fields: object }[] } }).edit.lines[0]!.fields)
})
