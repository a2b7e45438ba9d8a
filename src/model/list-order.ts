import { ATTENTION_KINDS, type AttentionKind, isClosed } from './attention.ts'
import { CASE_STATES, type CaseState } from './case-state.ts'
import type { TriageRow } from './triage-row.ts'

/** By what triage is ordered, from high to low: the most urgent kind first, then what was written last. */
export function triagePlace({ needs, updated_at }: TriageRow): string {
  const kind = needs ? ATTENTION_KINDS.indexOf(needs.kind) : ATTENTION_KINDS.length
  return `${ATTENTION_KINDS.length - kind} ${updated_at}`
}

/** The groups of the list page, in their order. */
export const LIST_GROUPS = ['needs', 'running', 'open', 'closed'] as const
export type ListGroup = (typeof LIST_GROUPS)[number]

export function listGroup(state: CaseState, kind: AttentionKind | null): ListGroup {
  if (kind !== null) return kind === 'running' ? 'running' : 'needs'
  return isClosed(state) ? 'closed' : 'open'
}

/** The open states: cases that are furthest come first. */
const OPEN_ORDER: readonly CaseState[] = [
  ...new Set<CaseState>([
    'VERIFYING',
    'IMPLEMENTING',
    'PLANNING',
    'INVESTIGATING',
    'OPEN',
    ...CASE_STATES,
  ]),
]

/** By what the list page is ordered, from low to high, and then as triage: the groups, and the open cases by state. */
export function listSection({ state, needs }: Pick<TriageRow, 'state' | 'needs'>): number {
  const group = listGroup(state, needs?.kind ?? null)
  const within = group === 'open' ? OPEN_ORDER.indexOf(state) : 0
  return LIST_GROUPS.indexOf(group) * 100 + within
}
