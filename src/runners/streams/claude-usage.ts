import { modelName, type UsageCounts } from '../../model/usage.ts'
import {
  type AgentUsage,
  costOf,
  modelNames,
  NO_USAGE,
  rowsOf,
  summed,
  tokenSums,
} from '../agents/agent-usage.ts'
import type { UnknownRecord } from '../agents/unknown-record.ts'

export interface ClaudeUsage {
  init(event: UnknownRecord): void
  result(event: UnknownRecord): void
  end(): AgentUsage
}

const BY_MODEL = {
  input: ['inputTokens', 'cacheReadInputTokens', 'cacheCreationInputTokens'],
  output: ['outputTokens'],
  cached: 'cacheReadInputTokens',
}
const BY_AGENT = {
  input: ['input_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens'],
  output: ['output_tokens'],
  cached: 'cache_read_input_tokens',
}

interface Row extends UsageCounts {
  model: string
}

/**
 * Claude Code's usage. `usage` excludes subagents and side requests, `modelUsage` includes them. In newer versions
 * (2.1.330) `modelUsage` and the cost continue from a resumed conversation, and the result also has what was added;
 * older ones (2.1.197) count from the start of the program.
 */
export function createClaudeUsage(): ClaudeUsage {
  let asked: string | null = null
  let rows: Row[] = []
  let own: UsageCounts | null = null

  function result(event: UnknownRecord): void {
    const { model_usage_since_last_result: since, modelUsage } = event
    if (since !== undefined) rows.push(...rowsOf(since).map(rowIn))
    else rows = rowsOf(modelUsage).map(rowIn)
    const counts = { ...tokenSums(event.usage, BY_AGENT), cost_usd: null }
    own = own ? summed([own, counts]) : counts
  }

  function end(): AgentUsage {
    const counts = rows.length > 0 ? summed(rows) : (own ?? NO_USAGE)
    const models = rows.map(({ model, input_tokens, output_tokens }) => ({
      model,
      tokens: (input_tokens ?? 0) + (output_tokens ?? 0),
    }))
    return { ...NO_USAGE, ...counts, model: modelNames(models) ?? asked }
  }

  return {
    init({ model }) {
      asked = modelName(model)
    },
    result,
    end,
  }
}

function rowIn({ model, row }: { model: string; row: UnknownRecord }): Row {
  const tokens = tokenSums(row, BY_MODEL)
  // if it does not know a model's price, it uses another model's
  const isPriced = row.costBasis !== 'unknown'
  return { model, ...tokens, cost_usd: isPriced ? costOf(row.costUSD, tokens) : null }
}
