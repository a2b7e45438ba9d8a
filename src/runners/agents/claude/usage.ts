import { modelName, type UsageCounts } from '../../../model/usage.ts'
import {
  type AgentUsage,
  conversationUsage,
  costOf,
  modelNames,
  NO_USAGE,
  rowsOf,
  summed,
  type TokenNames,
  tokenSums,
} from '../agent-usage.ts'
import { linesWith } from '../hooks/transcript.ts'
import { asRecord, type UnknownRecord } from '../unknown-record.ts'

const BY_MODEL: TokenNames = {
  input: ['inputTokens', 'cacheReadInputTokens', 'cacheCreationInputTokens'],
  output: ['outputTokens'],
  cached: 'cacheReadInputTokens',
}
const BY_MESSAGE: TokenNames = {
  input: ['input_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens'],
  output: ['output_tokens'],
  cached: 'cache_read_input_tokens',
}

interface Row extends UsageCounts {
  model: string
}

/**
 * Its usage. `usage` excludes subagents and side requests, `modelUsage` includes them. In newer versions (2.1.330)
 * `modelUsage` and the cost continue from a resumed conversation, and the result also has what was added; older ones
 * (2.1.197) count from the start of the program.
 */
export function createUsage() {
  let asked: string | null = null
  let rows: Row[] = []
  let own: UsageCounts | null = null
  return {
    init({ model }: UnknownRecord) {
      asked = modelName(model)
    },
    result(event: UnknownRecord) {
      const { model_usage_since_last_result: since, modelUsage } = event
      if (since !== undefined) rows.push(...rowsOf(since).map(rowIn))
      else rows = rowsOf(modelUsage).map(rowIn)
      const counts = { ...tokenSums(event.usage, BY_MESSAGE), cost_usd: null }
      own = own ? summed([own, counts]) : counts
    },
    end(): AgentUsage {
      const counts = rows.length > 0 ? summed(rows) : (own ?? NO_USAGE)
      const models = rows.map(({ model, input_tokens, output_tokens }) => ({
        model,
        tokens: (input_tokens ?? 0) + (output_tokens ?? 0),
      }))
      return { ...NO_USAGE, ...counts, model: modelNames(models) ?? asked }
    },
  }
}

function rowIn({ model, row }: { model: string; row: UnknownRecord }): Row {
  const tokens = tokenSums(row, BY_MODEL)
  // if it does not know a model's price, it uses another model's
  const isPriced = row.costBasis !== 'unknown'
  return { model, ...tokens, cost_usd: isPriced ? costOf(row.costUSD, tokens) : null }
}

/** What the transcript of a conversation counts. A message has a line for each of its parts, with the same counts. */
export async function transcriptUsage(transcript: string | null): Promise<AgentUsage> {
  const messages = new Map<unknown, { model: unknown; counts: unknown }>()
  for (const line of await linesWith(transcript, '"usage"')) {
    const { type, message } = asRecord(line)
    const { id, model, usage } = asRecord(message)
    if (type === 'assistant') messages.set(id, { model, counts: usage })
  }
  return conversationUsage([...messages.values()], BY_MESSAGE)
}
