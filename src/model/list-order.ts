import { ATTENTION_KINDS } from './attention.ts'
import { CASE_STATES, type CaseState } from './case-state.ts'
import { STATE_GROUPS, type StateGroup, stateGroup } from './state-groups.ts'
import type { TriageRow } from './triage-row.ts'

/** By what triage is ordered, from high to low: the most urgent kind first, then what was written last. */
export function triagePlace({ needs, updated_at }: TriageRow): string {
  const kind = needs ? ATTENTION_KINDS.indexOf(needs.kind) : ATTENTION_KINDS.length
  return `${ATTENTION_KINDS.length - kind} ${updated_at}`
}

/** The open states: cases that are furthest come first. */
const OPEN_ORDER: readonly CaseState[] = [
  ...new Set<CaseState>(['IMPLEMENTING', 'PLANNING', 'INVESTIGATING', 'OPEN', ...CASE_STATES]),
]

/** The sections of group n are from n × 100 on. */
export const SECTIONS_OF_GROUP = 100

type Listed = Pick<TriageRow, 'state' | 'needs' | 'since' | 'updated_at'>

/** By what the list page is ordered first, from low to high: the groups, and the open cases by state. */
export function listSection({ state, needs }: Listed): number {
  const group = stateGroup(state, needs?.kind ?? null)
  const within = group === 'open' ? OPEN_ORDER.indexOf(state) : 0
  return STATE_GROUPS.indexOf(group) * SECTIONS_OF_GROUP + within
}

const OLDEST_FIRST: ReadonlySet<StateGroup> = new Set(['waiting', 'verify', 'running'])

/** By what the list page is ordered within a section, from low to high: what waits longest, or what was changed last. */
export function listPlace({ state, needs, since, updated_at }: Listed): number {
  const isWaiting = OLDEST_FIRST.has(stateGroup(state, needs?.kind ?? null))
  return isWaiting ? Date.parse(since ?? updated_at) : -Date.parse(updated_at)
}
