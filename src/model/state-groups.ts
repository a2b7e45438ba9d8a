import type { AttentionKind } from './attention.ts'
import type { CaseState } from './case-state.ts'

/** The six words under which people see cases, in the order of lists: first what a person has to do. */
export const STATE_GROUPS = ['waiting', 'verify', 'running', 'open', 'parked', 'done'] as const

export type StateGroup = (typeof STATE_GROUPS)[number]

/** The meaning of a colour; the page and the terminal choose the colour itself. */
export type Tone = 'warn' | 'info' | 'active' | 'plain' | 'muted' | 'good'

export const STATE_GROUP_LABELS: Readonly<Record<StateGroup, string>> = {
  waiting: 'Waiting for you',
  verify: 'To verify',
  running: 'Running',
  open: 'Open',
  parked: 'Parked',
  done: 'Done',
}

export const STATE_GROUP_TONES: Readonly<Record<StateGroup, Tone>> = {
  waiting: 'warn',
  verify: 'info',
  running: 'active',
  open: 'plain',
  parked: 'muted',
  done: 'good',
}

/** Where a case belongs by its state, if it needs nothing. */
const BY_STATE: Readonly<Record<CaseState, StateGroup>> = {
  OPEN: 'open',
  INVESTIGATING: 'open',
  PLANNING: 'open',
  IMPLEMENTING: 'open',
  VERIFYING: 'verify',
  RESOLVED: 'done',
  BLOCKED: 'waiting',
  NEEDS_USER_INPUT: 'waiting',
  NON_ISSUE: 'done',
  WATCHLIST: 'parked',
  WONT_FIX: 'done',
  COMPRESSED: 'done',
}

/** What a case needs counts more than its state: a plan may wait in a case that is done. */
const BY_NEED: Readonly<Record<AttentionKind, StateGroup>> = {
  plan: 'waiting',
  problem: 'waiting',
  blocked: 'waiting',
  failed: 'waiting',
  proof: 'verify',
  gate_open: 'verify',
  running: 'running',
}

export function stateGroup(state: CaseState, need: AttentionKind | null = null): StateGroup {
  return need === null ? BY_STATE[state] : BY_NEED[need]
}

/** What a case waits for, in one or two words. */
export function needLabel(kind: AttentionKind, state: CaseState): string {
  return kind === 'blocked' && state === 'NEEDS_USER_INPUT' ? 'Question' : NEED_LABELS[kind]
}

export const NEED_LABELS: Readonly<Record<AttentionKind, string>> = {
  plan: 'Plan',
  problem: 'Problem',
  blocked: 'Blocked',
  failed: 'Failed',
  proof: 'Proof',
  gate_open: 'Ready to resolve',
  running: 'Running',
}

/** A state of a case or a session as people read it: `NEEDS_USER_INPUT` is "Needs your input". */
export function stateLabel(state: string): string {
  if (state === 'WONT_FIX') return 'Won’t fix'
  if (state === 'NEEDS_USER_INPUT') return 'Needs your input'
  const words = state.toLowerCase().replaceAll('_', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}
