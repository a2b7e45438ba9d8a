import t from 'tap'
import {
  addedSince,
  conversationUsage,
  runName,
  sessionUsage,
} from '../../src/model/session-usage.ts'
import type { TrailLine } from '../../src/model/trail.ts'
import { NO_COUNTS, usageText, usageTotal } from '../../src/model/usage.ts'

const TIME = '2026-11-24T12:00:00.000Z'

function trailOf(...lines: [event: string, fields: Record<string, unknown>][]) {
  return lines.map(
    ([event, fields], index) => ({ number: index + 1, time: TIME, event, fields }) as TrailLine,
  )
}

const counts = (input: number, output: number, cached: number, cost: number | null) => ({
  input_tokens: input,
  output_tokens: output,
  cached_tokens: cached,
  cost_usd: cost,
})
const PLAN = { mode: 'plan', model: 'opus', ...counts(2400, 60, 400, 0.1) }
const AGAIN = { mode: 'plan', model: 'opus', ...counts(1200, 30, 200, 0.2) }
const WORK = { mode: 'work', model: 'opus', ...counts(3600, 90, 600, null) }

t.test('the runs of an agent are counted separately, and they add up', async (t) => {
  const trail = trailOf(
    ['session_created', {}],
    ['agent_started', { mode: 'plan' }],
    ['agent_usage', PLAN],
    ['agent_started', { mode: 'plan' }],
    ['agent_usage', AGAIN],
    ['agent_started', { mode: 'work' }],
    ['agent_usage', WORK],
  )
  const usage = sessionUsage(trail)
  t.strictSame(usage, [
    { ...PLAN, started_at: TIME },
    { ...AGAIN, started_at: TIME },
    { ...WORK, started_at: TIME },
  ])
  t.strictSame(
    usage.map((_, index) => runName(usage, index)),
    ['Plan', 'Plan again', 'Work'],
  )
  const total = { runs: 3, ...counts(7200, 180, 1200, 0.3), incomplete: true }
  t.strictSame(usageTotal(usage), total, 'one does not say its cost')
  t.strictSame(usageTotal([total, { runs: 0, ...NO_COUNTS, incomplete: false }]), {
    ...total,
    runs: 3,
  })
  t.strictSame(usageTotal(usage.slice(0, 2)).incomplete, false)
})

t.test('a run that said nothing, and a trail from before runs said something', async (t) => {
  const nothing = { started_at: TIME, model: null, ...NO_COUNTS }
  const trail = trailOf(
    ['agent_started', { mode: 'plan' }],
    ['agent_started', { mode: 'work' }],
    ['agent_usage', { mode: 'work', input_tokens: 5 }],
  )
  const usage = sessionUsage(trail)
  t.strictSame(usage, [
    { mode: 'plan', ...nothing },
    { mode: 'work', ...nothing, input_tokens: 5 },
  ])
  t.strictSame(usageTotal(usage), { runs: 2, ...NO_COUNTS, input_tokens: 5, incomplete: true })
  t.strictSame(sessionUsage(trailOf(['session_created', {}])), [])
  t.strictSame(usageTotal([]), { runs: 0, ...NO_COUNTS, incomplete: false })
})

t.test('what a file says of its use is checked', async (t) => {
  const fields = {
    model: 7,
    input_tokens: -1,
    output_tokens: 1e300,
    cached_tokens: '9',
    cost_usd: 'x',
  }
  const [run] = sessionUsage(trailOf(['agent_usage', fields]))
  t.match(run, { mode: 'plan', model: null, ...NO_COUNTS })
})

t.test('what an agent counts over a whole conversation', async (t) => {
  const trail = trailOf(
    ['agent_session', { agent_session: 'a' }],
    ['agent_usage', PLAN],
    ['agent_usage', AGAIN],
    ['agent_session', { agent_session: 'b' }],
    ['agent_usage', WORK],
  )
  t.match(conversationUsage(trail.slice(0, 3)), counts(3600, 90, 600, 0.3))
  t.match(conversationUsage(trail.slice(0, 4)), NO_COUNTS, 'another one begins with nothing')
  t.match(conversationUsage(trail), { input_tokens: 3600, cost_usd: null })
  t.equal(addedSince(100, 150), 50)
  t.equal(addedSince(null, 150), 150)
  t.equal(addedSince(100, null), null)
  t.equal(addedSince(100, 40), 40, 'it began to count again')
})

t.test('in words', async (t) => {
  const rows: [Parameters<typeof usageText>[0], string][] = [
    [NO_COUNTS, ''],
    [{ ...NO_COUNTS, model: 'opus' }, 'opus'],
    [
      { model: 'opus', ...counts(1_234_567, 60, 400, 1.5) },
      'opus, 1,234,567 tokens in (400 cached), 60 out, about $1.50',
    ],
    [
      { ...counts(2400, 60, 0, 0.00928), incomplete: true },
      'at least 2,400 tokens in, 60 out, at least $0.0093',
    ],
    [{ ...NO_COUNTS, cost_usd: 0.01392 }, 'about $0.014'],
    [{ ...NO_COUNTS, cost_usd: 0.000002 }, 'about $0.000002'],
    [{ ...NO_COUNTS, cost_usd: 0 }, 'about $0.00'],
  ]
  for (const [usage, text] of rows) t.equal(usageText(usage), text)
})
