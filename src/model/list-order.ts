import { ATTENTION_KINDS } from './attention.ts'
import { CASE_STATES, type CaseState } from './case-state.ts'
import { STATE_GROUPS, type StateGroup, stateGroup } from './state-groups.ts'
import type { TriageRow } from './triage-row.ts'

/** Sort key of triage, descending: the most urgent kind first, then the latest change. */
export function triageKey({ needs, updated_at }: TriageRow): string {
  const kind = needs ? ATTENTION_KINDS.indexOf(needs.kind) : ATTENTION_KINDS.length
  return `${ATTENTION_KINDS.length - kind} ${updated_at}`
}

/** Order of open cases: the most advanced first. */
const OPEN_ORDER: readonly CaseState[] = [
  ...new Set<CaseState>(['IMPLEMENTING', 'PLANNING', 'INVESTIGATING', 'OPEN', ...CASE_STATES]),
]

/** The sections of group n start at n × 100. */
export const SECTIONS_OF_GROUP = 100

type Listed = Pick<TriageRow, 'state' | 'needs' | 'since' | 'updated_at'>

/** Primary sort key of the list page, ascending: by group, and open cases by state. */
export function listSection({ state, needs }: Listed): number {
  const group = stateGroup(state, needs?.kind ?? null)
  const within = group === 'open' ? OPEN_ORDER.indexOf(state) : 0
  return STATE_GROUPS.indexOf(group) * SECTIONS_OF_GROUP + within
}

const OLDEST_FIRST: ReadonlySet<StateGroup> = new Set(['waiting', 'verify', 'running'])

/** Secondary sort key of the list page, ascending: the longest waiting or the latest changed first. */
export function listKey({ state, needs, since, updated_at }: Listed): number {
  const isWaiting = OLDEST_FIRST.has(stateGroup(state, needs?.kind ?? null))
  return isWaiting ? Date.parse(since ?? updated_at) : -Date.parse(updated_at)
}
