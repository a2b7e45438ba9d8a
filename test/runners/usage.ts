import t from 'tap'
import { createUsageReader } from '../../src/runners/acp/usage.ts'
import type { AgentUsage } from '../../src/runners/agents/agent-usage.ts'
import { usageNotes } from '../../src/runners/agents/agent-usage.ts'
import { createReadableOutput } from '../../src/runners/agents/readable-output.ts'
import { parserFor } from '../../src/runners/agents/registry.ts'
import { transcriptsOf } from '../fixtures/agents/transcripts.ts'
import { USAGE } from '../fixtures/model-dialects.ts'

/*
 * What real agents said they used, against what the scripted model said of each of its answers. The transcripts are
 * recorded by `npm run transcripts`; lines that are written here are what no scene has.
 */

// biome-ignore lint/suspicious/noExplicitAny: each agent's own shape
type Line = any
type Command = 'claude' | 'codex' | 'gemini' | 'opencode' | 'copilot'

const NOTHING = {
  model: null,
  input_tokens: null,
  output_tokens: null,
  cached_tokens: null,
  cost_usd: null,
}

/** What so many answers of the model used. */
function answers(count: number) {
  return {
    input_tokens: count * USAGE.inputTokens,
    output_tokens: count * USAGE.outputTokens,
    cached_tokens: count * USAGE.cachedTokens,
  }
}

function printed(provider: string, scene: string): Line[] {
  const lines = transcriptsOf(provider).get(scene)?.lines ?? []
  return lines.flatMap((line) => ('out' in line ? [structuredClone(line.out)] : []))
}

function ofCommand(format: Command, lines: readonly Line[]): AgentUsage {
  const shown = createReadableOutput({ write: () => {}, clean: (text) => text, workdir: '/' })
  const stream = parserFor(format)(shown)
  for (const line of lines) stream.line(typeof line === 'string' ? line : JSON.stringify(line))
  return stream.end().usage
}

t.test('subagents of Claude Code count once', async (t) => {
  const lines = printed('claude', 'delegated')
  const last = lines.findLast((line) => line.type === 'result')
  const [row]: Line[] = Object.values(last.modelUsage)
  const read = row.inputTokens + row.cacheReadInputTokens + row.cacheCreationInputTokens
  const { input_tokens, cost_usd } = ofCommand('claude', lines)
  t.equal(input_tokens, read)
  t.equal(cost_usd, last.total_cost_usd)
  t.ok(read > last.usage.input_tokens + last.usage.cache_read_input_tokens, 'usage is less')
})

t.test('a conversation that Claude Code resumes', async (t) => {
  const lines = printed('claude', 'plan')
  const result = lines.findLast((line) => line.type === 'result')
  const [model] = Object.keys(result.modelUsage)
  const row = result.modelUsage[model!]
  // as 2.1.330 says it: of the whole conversation, and besides what was added
  result.modelUsage = {
    [model!]: { ...row, inputTokens: 3000, outputTokens: 90, costUSD: 0.01392 },
  }
  result.total_cost_usd = 0.01392
  t.match(ofCommand('claude', lines), { ...answers(1), cost_usd: 0.00464 })
  // as 2.1.197 says it, which does not count on
  delete result.model_usage_since_last_result
  result.modelUsage = { [model!]: row }
  t.match(ofCommand('claude', lines), { ...answers(1), cost_usd: 0.00464 })
})

t.test('several models in one run', async (t) => {
  const result = (rows: object) => ({ type: 'result', subtype: 'success', modelUsage: rows })
  const row = (inputTokens: number, costUSD: number) => ({
    inputTokens,

    outputTokens: 1,
    cacheReadInputTokens: 0,
    cacheCreationInputTokens: 0,
    costUSD,
  })
  t.match(ofCommand('claude', [result({ haiku: row(10, 0.001), opus: row(90, 0.5) })]), {
    model: 'opus, haiku',
    input_tokens: 100,
    cost_usd: 0.501,
  })
  const many = Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`m${i}`, row(9 - i, 1)]))
  t.equal(ofCommand('claude', [result(many)]).model, 'm0, m1, m2, m3, m4, and 4 more')
})

t.test('no cost is invented', async (t) => {
  const result = (row: object) => ({ type: 'result', modelUsage: { m: row } })
  const row = {
    inputTokens: 5,
    outputTokens: 5,
    cacheReadInputTokens: 0,
    cacheCreationInputTokens: 0,
  }
  for (const [reported, cost] of [
    [{ costUSD: 0.5 }, 0.5],
    [{ costUSD: 0.5, costBasis: 'list' }, 0.5],
    // it takes the price of another model
    [{ costUSD: 0.5, costBasis: 'unknown' }, null],
    [{ costUSD: 0 }, null],
    [{}, null],
  ] as const) {
    t.equal(
      ofCommand('claude', [result({ ...row, ...reported })]).cost_usd,
      cost,
      JSON.stringify(reported),
    )
  }
  const step = (cost: unknown) => ({
    type: 'step_finish',
    part: { cost, tokens: { input: 1, output: 1, reasoning: 0, cache: { read: 0, write: 0 } } },
  })
  t.equal(ofCommand('opencode', [step(0.25), step(0.5)]).cost_usd, 0.75)
  t.equal(ofCommand('opencode', [step(0), step(0)]).cost_usd, null)
  t.equal(ofCommand('opencode', [step(0.25), step('free')]).cost_usd, null, 'a part is not known')
  const acp = (cost: unknown) => {
    const reader = createUsageReader()
    reader.update({ sessionUpdate: 'usage_update', used: 99, size: 100, cost })
    return reader.end()
  }
  t.match(acp({ amount: 0.5, currency: 'USD' }), { ...NOTHING, cost_usd: 0.5 })
  for (const cost of [{ amount: 0.5, currency: 'EUR' }, { amount: 0, currency: 'USD' }, null, 7]) {
    t.match(acp(cost), NOTHING, 'and how full the context is, is nothing that was spent')
  }
})

t.test('numbers that can be none are not known', async (t) => {
  const strange = [-1, 1.5, 1e300, '7', null, {}, [], true, Number.MAX_SAFE_INTEGER]
  for (const value of strange) {
    const name = JSON.stringify(value)
    const codex = [{ type: 'turn.completed', usage: { input_tokens: value, output_tokens: 3 } }]
    t.match(ofCommand('codex', codex), { input_tokens: null, output_tokens: 3 }, name)
    const models = {
      m: { inputTokens: value, outputTokens: 3, costUSD: value === 1.5 ? -1.5 : value },
    }
    const claude = [{ type: 'result', model_usage_since_last_result: models, usage: value }]
    t.match(ofCommand('claude', claude), { input_tokens: null, cost_usd: null }, name)
    const stats = { input_tokens: value, output_tokens: value, cached: value, total_tokens: value }
    t.match(ofCommand('gemini', [{ type: 'result', stats }]), NOTHING, name)
    const part = { tokens: { input: value, cache: value }, cost: value === 1.5 ? -1.5 : value }
    t.match(ofCommand('opencode', [{ type: 'step_finish', part }]), NOTHING, name)
    const reader = createUsageReader()
    reader.update({ sessionUpdate: 'usage_update', cost: value })
    reader.answer({ usage: value })
    t.match(reader.end(), { input_tokens: null, cost_usd: null }, name)
  }
  const [model] = usageNotes(
    'plan',
    ofCommand('gemini', [{ type: 'init', model: 'm'.repeat(999) }]),
  )
  t.equal(String(Object(model?.fields).model).length, 201)
  t.strictSame(usageNotes('work', ofCommand('codex', [])), [], 'nothing known, nothing noted')
})
