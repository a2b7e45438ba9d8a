import t from 'tap'
import type { Session } from '../../src/model/session.ts'
import { stepRows } from '../../src/model/step-rows.ts'

const time = '2026-01-02T03:04:05.000Z'

function session(state: Session['state'], lines: [string, object][]): Session {
  const trail = lines.map(([event, fields], index) => ({
    number: index + 1,
    time,
    event,
    fields: { ...fields },
  }))
  return { number: 1, state, trail } as unknown as Session
}

const rowsOf = (of: Session) =>
  stepRows(of, { steps: [] }, () => true).map(({ id, isPlanning, state }) => [
    id,
    isPlanning,
    state,
  ])

const begun = (step: string): [string, object] => ['step_started', { step }]
const over = (step: string, fields: object): [string, object] => [
  'step_finished',
  { step, exit: 0, duration_ms: 5, ...fields },
]

t.test("an agent's runs that made the plan stand apart from the work", async (t) => {
  const planned = [begun('plan-agent'), over('plan-agent', {})]
  t.strictSame(rowsOf(session('plan_ready', planned)), [['plan-agent', true, 'ok']])
  const working: [string, object][] = [...planned, ['plan_approved', {}], begun('agent')]
  t.strictSame(rowsOf(session('executing', working)), [
    ['plan-agent', true, 'ok'],
    ['agent', false, 'running'],
  ])
})

t.test('only what was ended from outside is interrupted', async (t) => {
  const ended = (reason: string, fields: object, state: Session['state'] = 'failed') =>
    rowsOf(
      session(state, [
        ['plan_approved', {}],
        begun('a'),
        over('a', fields),
        ['session_state_changed', { new_state: state, reason }],
      ]),
    )[0]![2]
  const stopped = 'The service was stopped while the session was executing.'
  t.equal(ended(stopped, { exit: null, signal: 'SIGTERM' }), 'interrupted')
  t.equal(ended('', { exit: 143 }, 'abandoned'), 'interrupted')
  t.equal(ended('', { exit: 0 }, 'abandoned'), 'ok')
  t.equal(ended('The run stopped: step a.', { exit: null, signal: 'SIGSEGV' }), 'failed')
  t.equal(ended('The run stopped: step a.', { exit: 3 }), 'failed')
})
