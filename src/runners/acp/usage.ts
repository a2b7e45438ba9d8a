import { modelName, tokenCount, type UsageCounts } from '../../model/usage.ts'
import { type AgentUsage, costOf, NO_USAGE, sumOf } from '../agents/agent-usage.ts'
import { asArray, asRecord, type UnknownRecord } from '../agents/unknown-record.ts'

/** Reads an agent's usage from its updates and from the answer to a prompt. */
export interface UsageReader {
  /** The model that the session started with. */
  session(model: string | null): void
  /** The `update` of a `session/update`. */
  update(update: UnknownRecord): void
  /** The answer to session/prompt. */
  answer(answer: unknown): void
  end(): AgentUsage
}

export function createUsageReader(): UsageReader {
  let model: string | null = null
  let cost: unknown = null
  let tokens: UsageCounts | null = null

  function update(update: UnknownRecord): void {
    if (update.sessionUpdate === 'config_option_update') model = modelIn(update) ?? model
    // `used` and `size` describe the context window, not the tokens spent
    if (update.sessionUpdate !== 'usage_update') return
    const { amount, currency } = asRecord(update.cost)
    if (currency === 'USD') cost = amount
  }

  function answer(answer: unknown): void {
    tokens = countsIn(asRecord(asRecord(answer).usage))
  }

  function end(): AgentUsage {
    const counts = tokens ?? NO_USAGE
    const cost_usd = costOf(cost, counts)
    return { ...NO_USAGE, ...counts, cost_usd, model, cumulative: 'cost' }
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

/** The model in an answer or an update; null if there is none. */
export function modelIn(session: unknown): string | null {
  const { configOptions, models } = asRecord(session)
  const options = asArray(configOptions).map(asRecord)
  const option =
    options.find(({ category }) => category === 'model') ?? options.find(({ id }) => id === 'model')
  const name = modelName(option?.currentValue) ?? modelName(asRecord(models).currentModelId)
  return name === 'default' ? null : name
}

/** Agents differ in whether input includes cached tokens and output includes thinking. Their total shows which. */
function countsIn(counts: UnknownRecord): UsageCounts {
  const { inputTokens: input, outputTokens: output, cachedReadTokens: cached } = counts
  const { cachedWriteTokens: written = 0, thoughtTokens: thoughts = 0 } = counts
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
