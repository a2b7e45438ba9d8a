import type { AttentionKind } from './attention.ts'
import type { FinishedRun } from './finished-runs.ts'
import type { SessionDurations } from './session-durations.ts'

export const STATS_WEEKS = 8

const DAY_MS = 24 * 60 * 60_000
const WEEK_MS = 7 * DAY_MS

/** How many cases need this from a person, and the one that has waited longest. */
export interface WaitingCount {
  kind: Exclude<AttentionKind, 'running'>
  count: number
  oldest_since: string
  oldest_case_id: string
}

export interface RunCount {
  runs: number
  passed: number
}

export interface AgentStats extends RunCount {
  provider: string
  /** One for each of `weeks`. */
  by_week: RunCount[]
  medians: SessionDurations
}

export interface Stats extends RunCount {
  waiting: WaitingCount[]
  /** The Mondays (UTC) on which the weeks begin, the present one last. */
  weeks: string[]
  /** Most runs first. */
  agents: AgentStats[]
  medians: SessionDurations
}

/** The Mondays of the last eight weeks, as dates. */
export function weeksUntil(now: string): string[] {
  const day = Math.floor(Date.parse(now) / DAY_MS)
  const monday = (day - ((day + 3) % 7)) * DAY_MS // day 0 was a Thursday
  return Array.from({ length: STATS_WEEKS }, (_, index) =>
    new Date(monday - (STATS_WEEKS - 1 - index) * WEEK_MS).toISOString().slice(0, 10),
  )
}

/** Runs that ended before the first week, or after the present one by another machine's clock, do not count. */
export function statsOf(
  all: readonly FinishedRun[],
  waiting: WaitingCount[],
  weeks: string[],
): Stats {
  const first = Date.parse(weeks[0]!)
  const runs = all.flatMap((run) => {
    const week = Math.floor((Date.parse(run.ended_at) - first) / WEEK_MS)
    return week >= 0 && week < weeks.length ? [{ ...run, week }] : []
  })
  const providers = [...new Set(runs.map(({ provider }) => provider))]
  const agents = providers.map((provider): AgentStats => {
    const own = runs.filter((run) => run.provider === provider)
    return {
      provider,
      ...countOf(own),
      by_week: weeks.map((_, index) => countOf(own.filter(({ week }) => week === index))),
      medians: mediansOf(own),
    }
  })
  agents.sort((a, b) => b.runs - a.runs || (a.provider < b.provider ? -1 : 1))
  return {
    waiting,
    weeks,
    ...countOf(runs),
    agents,
    medians: mediansOf(runs),
  }
}

function countOf(runs: readonly FinishedRun[]): RunCount {
  return { runs: runs.length, passed: runs.filter(({ passed }) => passed).length }
}

function mediansOf(runs: readonly FinishedRun[]): SessionDurations {
  const of = (key: keyof SessionDurations) => median(runs.flatMap((run) => run[key] ?? []))
  return { planned_ms: of('planned_ms'), waited_ms: of('waited_ms'), ran_ms: of('ran_ms') }
}

function median(values: number[]): number | null {
  if (values.length === 0) return null
  const sorted = values.toSorted((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  if (sorted.length % 2 === 1) return sorted[middle]!
  return Math.round((sorted[middle - 1]! + sorted[middle]!) / 2)
}
