import t from 'tap'
import { finishedRuns } from '../../src/model/finished-runs.ts'
import type { Session } from '../../src/model/session.ts'
import { statsOf, weeksUntil } from '../../src/model/stats.ts'
import type { TrailLine } from '../../src/model/trail.ts'

const NOW = '2026-11-26T12:00:00.000Z'

/** A trail with these states, each after so many seconds. */
function session(states: [state: string, seconds: number][], rest: Partial<Session> = {}) {
  let old = ''
  let at = Date.parse('2026-11-24T10:00:00.000Z')
  const trail = states.map(([state, seconds], index): TrailLine => {
    at += seconds * 1000
    const fields = index === 0 ? {} : { old_state: old, new_state: state }
    old = state
    return {
      number: index + 1,
      time: new Date(at).toISOString(),
      event: index === 0 ? 'session_created' : 'session_state_changed',
      fields,
    } as TrailLine
  })
  return { provider: 'claude', tests: null, trail, ...rest }
}

const PLANNED: [string, number][] = [
  ['created', 0],
  ['planning', 1],
  ['plan_ready', 9],
]
const RAN: [string, number][] = [...PLANNED, ['approved', 60], ['executing', 1]]

t.test('weeks begin on Monday, the present one is last', async (t) => {
  const weeks = weeksUntil(NOW)
  t.equal(weeks.length, 8)
  t.equal(weeks[0], '2026-10-05')
  t.equal(weeks[7], '2026-11-23')
  t.equal(weeksUntil('2026-11-23T00:00:00.000Z')[7], '2026-11-23')
  t.equal(weeksUntil('2026-11-22T23:59:59.999Z')[7], '2026-11-16')
})

t.test(
  'a run counts once it has completed or failed, and passes without failed tests',
  async (t) => {
    const tests = { run: 3, passed: 2, failed: 1 }
    const runs = finishedRuns([
      session(PLANNED),
      session([...PLANNED, ['failed', 1]]),
      session([...RAN]),
      session([...RAN, ['abandoned', 5]]),
      session([...RAN, ['complete', 30]]),
      session([...RAN, ['complete', 30]], { tests }),
      session([...RAN, ['failed', 30]], { provider: 'codex' }),
      session([...RAN, ['complete', 30], ['abandoned', 5]]),
    ])
    t.strictSame(
      runs.map(({ provider, passed }) => [provider, passed]),
      [
        ['claude', true],
        ['claude', false],
        ['codex', false],
        ['claude', true],
      ],
    )
    t.match(runs[0], { planned_ms: 10_000, waited_ms: 60_000, ran_ms: 31_000 })
  },
)

t.test('counts and medians by agent and week', async (t) => {
  const run = (provider: string, ended_at: string, passed: boolean, ran_ms: number) => ({
    provider,
    ended_at,
    passed,
    planned_ms: null,
    waited_ms: 1000,
    ran_ms,
  })
  const stats = statsOf(
    [
      run('codex', '2026-11-23T00:00:00.000Z', true, 100),
      run('claude', '2026-11-22T23:00:00.000Z', false, 200),
      run('claude', '2026-11-24T00:00:00.000Z', true, 400),
      run('claude', '2026-10-04T23:59:59.000Z', true, 9000),
      run('claude', '2026-12-01T00:00:00.000Z', true, 9000),
    ],
    [],
    weeksUntil(NOW),
  )
  const first = statsOf([run('claude', '2026-10-05T00:00:00.000Z', true, 1)], [], weeksUntil(NOW))
  t.equal(first.runs, 1, 'the first week counts from its beginning')
  t.match(stats, {
    runs: 3,
    passed: 2,
    medians: { planned_ms: null, waited_ms: 1000, ran_ms: 200 },
  })
  t.strictSame(
    stats.agents.map(({ provider, runs, passed, by_week, medians }) => [
      provider,
      `${passed}/${runs}`,
      by_week.map((week) => `${week.passed}/${week.runs}`).slice(-2),
      medians.ran_ms,
    ]),
    [
      ['claude', '1/2', ['0/1', '1/1'], 300],
      ['codex', '1/1', ['0/0', '1/1'], 100],
    ],
  )
})
