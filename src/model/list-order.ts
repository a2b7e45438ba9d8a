import type { AttentionKind } from './attention.ts'
import type { CaseState } from './case-state.ts'
import type { TriageRow } from './triage-row.ts'

/** Plans and questions, then what failed, then what is to verify; apart from these what waits for others, or runs. */
const BY_NEED: Readonly<Record<AttentionKind, number>> = {
  plan: 0,
  question: 0,
  problem: 1,
  failed: 1,
  proof: 2,
  gate_open: 2,
  blocked: 3,
  running: 4,
}

/** Of cases that need nothing: the most advanced first, closed ones last. */
const BY_STATE: readonly (readonly CaseState[])[] = [
  ['VERIFYING', 'BLOCKED', 'NEEDS_USER_INPUT'],
  ['IMPLEMENTING'],
  ['PLANNING'],
  ['INVESTIGATING'],
  ['OPEN'],
  ['WATCHLIST'],
  ['RESOLVED', 'NON_ISSUE', 'WONT_FIX', 'COMPRESSED'],
]

const FIRST_BY_STATE = Math.max(...Object.values(BY_NEED)) + 1

/**
 * The sort key of every list of cases, descending: by what they need, then by state, the newest first. The API, the
 * console, the terminal and MCP have no other order.
 */
export function listKey({
  needs,
  state,
  since,
  updated_at,
}: Pick<TriageRow, 'needs' | 'state' | 'since' | 'updated_at'>): string {
  const section = needs
    ? BY_NEED[needs.kind]
    : FIRST_BY_STATE + BY_STATE.findIndex((states) => states.includes(state))
  return `${99 - section} ${since ?? updated_at}`
}
