/** Usage as an agent reports it; null for values it does not report. */
export interface UsageCounts {
  /** All input tokens, including those from the cache. */
  input_tokens: number | null
  /** All output tokens, including reasoning. */
  output_tokens: number | null
  /** The part of `input_tokens` from the cache. */
  cached_tokens: number | null
  /** In US dollars, as the agent estimates it. */
  cost_usd: number | null
}

export interface UsageTotal extends UsageCounts {
  runs: number
  /** True if some run lacks values that others report: the sums are lower bounds. */
  incomplete: boolean
}

const COUNTS = ['input_tokens', 'output_tokens', 'cached_tokens', 'cost_usd'] as const
export const NO_COUNTS: Readonly<UsageCounts> = {
  input_tokens: null,
  output_tokens: null,
  cached_tokens: null,
  cost_usd: null,
}
const MAX_TOKENS = 1e12
const MAX_USD = 1e6
const MAX_MODEL = 200

export function usageTotal(
  runs: readonly (UsageCounts & { runs?: number; incomplete?: boolean })[],
) {
  const total: UsageTotal = { runs: 0, ...NO_COUNTS, incomplete: false }
  for (const run of runs) {
    total.runs += run.runs ?? 1
    for (const name of COUNTS) total[name] = added(total[name], run[name])
  }
  if (total.cost_usd !== null) total.cost_usd = dollars(total.cost_usd)
  const known = COUNTS.filter((name) => name !== 'cached_tokens' && total[name] !== null)
  total.incomplete = runs.some((run) => {
    return run.incomplete === true || (run.runs !== 0 && known.some((name) => run[name] === null))
  })
  return total
}

/** Formats usage: `claude-opus-5-5, 12,400 tokens in (8,000 cached), 310 out, about $0.0093`; empty if unknown. */
export function usageText(
  usage: UsageCounts & { model?: string | null; incomplete?: boolean },
): string {
  const { model = null, input_tokens, output_tokens, cached_tokens, cost_usd } = usage
  const least = usage.incomplete === true ? 'at least ' : ''
  const cached = cached_tokens ? ` (${grouped(cached_tokens)} cached)` : ''
  const parts = [
    model,
    input_tokens === null ? null : `${least}${grouped(input_tokens)} tokens in${cached}`,
    output_tokens === null ? null : `${grouped(output_tokens)} out`,
    cost_usd === null ? null : `${least || 'about '}${dollarText(cost_usd)}`,
  ]
  return parts.filter((part) => part !== null).join(', ')
}

/** Checks a number of tokens from a program; null if invalid. */
export function tokenCount(value: unknown): number | null {
  return Number.isSafeInteger(value) && isBetween(value, MAX_TOKENS) ? value : null
}

/** Checks an amount of US dollars from a program, rounded to a millionth; null if invalid. */
export function dollarCount(value: unknown): number | null {
  return Number.isFinite(value) && isBetween(value, MAX_USD) ? dollars(value) : null
}

/** Checks a model name from a program; null if empty. */
export function modelName(value: unknown): string | null {
  const text = typeof value === 'string' ? value.trim() : ''
  if (text === '') return null
  return text.length <= MAX_MODEL ? text : `${text.slice(0, MAX_MODEL).toWellFormed()}…`
}

/** Reads the usage of an `agent_usage` line or event. */
export function readUsage(fields: Record<string, unknown>): UsageCounts & { model: string | null } {
  return {
    model: modelName(fields.model),
    input_tokens: tokenCount(fields.input_tokens),
    output_tokens: tokenCount(fields.output_tokens),
    cached_tokens: tokenCount(fields.cached_tokens),
    cost_usd: dollarCount(fields.cost_usd),
  }
}

function added(a: number | null, b: number | null): number | null {
  return a === null ? b : a + (b ?? 0)
}

function isBetween(value: unknown, max: number): value is number {
  return typeof value === 'number' && value >= 0 && value <= max
}

function dollars(value: number): number {
  return Math.round(value * 1e6) / 1e6
}

function grouped(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ',')
}

/** Formats whole cents, or two significant digits below 10 cents. */
function dollarText(value: number): string {
  return `$${value >= 0.1 || value === 0 ? value.toFixed(2) : trimmed(value)}`
}

function trimmed(value: number): string {
  const digits = Math.max(2, 1 - Math.floor(Math.log10(value)))
  return value.toFixed(Math.min(6, digits))
}
