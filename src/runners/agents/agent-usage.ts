import {
  dollarCount,
  modelName,
  NO_COUNTS,
  tokenCount,
  type UsageCounts,
} from '../../model/usage.ts'
import type { AgentFacts, AgentNote } from '../contract.ts'
import { asRecord, type UnknownRecord } from './unknown-record.ts'

/** An agent's reported usage in a run. */
export interface AgentUsage extends UsageCounts {
  model: string | null
  /** Which numbers cover the whole conversation, including earlier runs. */
  cumulative: 'tokens' | 'cost' | null
}

export const NO_USAGE: Readonly<AgentUsage> = { model: null, ...NO_COUNTS, cumulative: null }

/** The note about a run's usage; none if nothing is known. */
export function usageNotes(mode: AgentFacts['mode'], usage: AgentUsage): AgentNote[] {
  const { cumulative, ...known } = usage
  if (Object.values(known).every((value) => value === null)) return []
  return [{ event: 'agent_usage', fields: { mode, ...known }, cumulative }]
}

/** The fields of an agent's counts; those of `input` and `output` are added up. */
export interface TokenNames {
  input: readonly string[]
  output: readonly string[]
  cached: string
}

/** Adds up the named counts; null if one of them is not a count. */
export function tokenSums(
  from: unknown,
  names: TokenNames,
): Pick<UsageCounts, 'input_tokens' | 'output_tokens' | 'cached_tokens'> {
  const counts = asRecord(from)
  return {
    input_tokens: sumOf(names.input.map((name) => counts[name])),
    output_tokens: sumOf(names.output.map((name) => counts[name])),
    cached_tokens: tokenCount(counts[names.cached]),
  }
}

/** Null if one of the values is not a count. */
export function sumOf(values: readonly unknown[]): number | null {
  const counts = values.map(tokenCount)
  if (counts.length === 0 || counts.includes(null)) return null
  return tokenCount(counts.reduce<number>((sum, count) => sum + (count ?? 0), 0))
}

/** The usage of a whole conversation, by its messages. */
export function conversationUsage(
  messages: readonly { model: unknown; counts: unknown }[],
  names: TokenNames,
): AgentUsage {
  const parts = messages.map(({ model, counts }) => ({
    model,
    ...tokenSums(counts, names),
    cost_usd: null,
  }))
  const model = modelNames(parts.map(({ model, output_tokens: tokens }) => ({ model, tokens })))
  return { ...summed(parts), model, cumulative: 'tokens' }
}

/** Adds up the parts of a run. If one part lacks a count, the sum of that count is unknown. */
export function summed(parts: readonly UsageCounts[]): UsageCounts {
  const sum = (name: keyof UsageCounts) => sumOf(parts.map((part) => part[name]))
  const costs = parts.map(({ cost_usd }) => cost_usd)
  const isPriced = costs.length > 0 && !costs.includes(null)
  return {
    input_tokens: sum('input_tokens'),
    output_tokens: sum('output_tokens'),
    cached_tokens: sum('cached_tokens'),
    cost_usd: isPriced
      ? dollarCount(costs.reduce<number>((all, cost) => all + (cost ?? 0), 0))
      : null,
  }
}

/**
 * The cost an agent reports. Agents report zero if they do not know the price, so zero for used tokens means
 * unknown.
 */
export function costOf(
  value: unknown,
  { input_tokens, output_tokens }: Partial<UsageCounts>,
): number | null {
  const cost = dollarCount(value)
  return cost === 0 && (input_tokens !== 0 || output_tokens !== 0) ? null : cost
}

const MAX_MODELS = 5

/** The names of the models on one line, most tokens first. */
export function modelNames(
  models: readonly { model: unknown; tokens: number | null }[],
): string | null {
  const sorted = [...models].sort((a, b) => (b.tokens ?? 0) - (a.tokens ?? 0))
  const names = [...new Set(sorted.map(({ model }) => modelName(model)))].filter(
    (name) => name !== null,
  )
  const more = names.length - MAX_MODELS
  const rest = more > 0 ? [`and ${more} more`] : []
  return modelName([...names.slice(0, MAX_MODELS), ...rest].join(', '))
}

/** The entries of an object as rows. */
export function rowsOf(value: unknown): { model: string; row: UnknownRecord }[] {
  return Object.entries(asRecord(value)).map(([model, row]) => ({ model, row: asRecord(row) }))
}
