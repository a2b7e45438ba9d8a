import { modelName, tokenCount, type UsageCounts } from '../../model/usage.ts'
import {
  type AgentUsage,
  costOf,
  modelNames,
  NO_USAGE,
  summed,
  sumOf,
} from '../agents/agent-usage.ts'
import { type Foreign, listOf, objectOf } from '../agents/foreign.ts'

/** What an agent says of its use, in its updates and in the answer to a prompt. */
export interface UsageReader {
  /** The model that the session began with. */
  session(model: string | null): void
  /** A `session/update`'s update. */
  update(update: Foreign): void
  /** The answer to session/prompt. */
  answer(answer: unknown): void
  end(): AgentUsage
}

/** `countsTurn`: whether the answer counts the whole turn, as the protocol has it, or its last request only. */
export function createUsageReader({ countsTurn }: { countsTurn: boolean }): UsageReader {
  let model: string | null = null
  let named: string | null = null
  let cost: unknown = null
  let tokens: UsageCounts | null = null

  function update(update: Foreign): void {
    if (update.sessionUpdate === 'config_option_update') model = modelIn(update) ?? model
    // `used` and `size` say how full its context is, not what it spent
    if (update.sessionUpdate !== 'usage_update') return
    const { amount, currency } = objectOf(update.cost)
    if (currency === 'USD') cost = amount
    named = modelName(objectOf(update._meta)['_claude/model']) ?? named
  }

  function answer(answer: unknown): void {
    const { usage, _meta } = objectOf(answer)
    const rows = listOf(objectOf(objectOf(_meta).quota).model_usage).map(objectOf)
    // these count its subagents too, `usage` does not
    const parts = rows.map(({ token_count }) => countsIn(objectOf(token_count)))
    named =
      modelNames(rows.map(({ model }, index) => ({ model, tokens: parts[index]!.input_tokens }))) ??
      named
    if (countsTurn) tokens = parts.length > 0 ? summed(parts) : countsIn(objectOf(usage))
  }

  function end(): AgentUsage {
    const counts = tokens ?? NO_USAGE
    const cost_usd = costOf(cost, counts)
    return { ...NO_USAGE, ...counts, cost_usd, model: named ?? model, cumulative: 'cost' }
  }

  return {
    session(begunWith) {
      model = begunWith
    },
    update,
    answer,
    end,
  }
}

/** The model that an answer or an update names; null where none is. */
export function modelIn(session: unknown): string | null {
  const { configOptions, models } = objectOf(session)
  const options = listOf(configOptions).map(objectOf)
  const option =
    options.find(({ category }) => category === 'model') ?? options.find(({ id }) => id === 'model')
  const name = modelName(option?.currentValue) ?? modelName(objectOf(models).currentModelId)
  return name === 'default' ? null : name
}

/**
 * Agents differ in what they count apart from the input (what came from a cache and went there) and the output (the
 * thoughts): their total shows it.
 */
function countsIn(counts: Foreign): UsageCounts {
  const input = counts.inputTokens ?? counts.input_tokens
  const output = counts.outputTokens ?? counts.output_tokens
  const cached = counts.cachedReadTokens ?? counts.cachedInputTokens
  const written = counts.cachedWriteTokens ?? counts.cacheWriteInputTokens ?? 0
  const thoughts = counts.thoughtTokens ?? counts.reasoningOutputTokens ?? 0
  const total = tokenCount(counts.totalTokens)
  const readings = [sumOf([input, cached, written]), tokenCount(input)].flatMap((all) =>
    [tokenCount(output), sumOf([output, thoughts])].map((said) => ({ all, said })),
  )
  const isTotal = (all: number | null, said: number | null) =>
    all !== null && said !== null && all + said === total
  const found = readings.find(({ all, said }) => isTotal(all, said))
  return {
    input_tokens: found ? found.all : tokenCount(input),
    output_tokens: found ? found.said : tokenCount(output),
    cached_tokens: tokenCount(cached),
    cost_usd: null,
  }
}
