import type { AttentionKind } from './attention.ts'
import type { CaseState } from './case-state.ts'

/** The six groups in which people see cases, in list order: first what a person has to do. */
export const STATE_GROUPS = ['waiting', 'verify', 'running', 'open', 'parked', 'done'] as const

export type StateGroup = (typeof STATE_GROUPS)[number]

/** The meaning of a colour; pages and terminal choose the colour. */
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

/** The group of a case that needs nothing, by its state. */
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

/**
 * The group of a case by what it needs, which counts more than its state: a case that is done can have a waiting
 * plan.
 */
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

/** What a person is needed for: the one count of the header, the tab and the list of cases. */
export const NEEDS_YOU = (Object.keys(BY_NEED) as AttentionKind[]).filter(
  (kind) => kind !== 'running',
)

/** Labels what a case waits for, in one or two words. */
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

/** Instead of "Running", for a case whose session waits in line. */
export const IN_LINE = 'In line'

/** What the count of the header counts. */
export function needYouText(count: number): string {
  const cases = count === 1 ? '1 case needs' : `${count} cases need`
  return `${cases} you: a plan, a problem, a question, a failure, proof to verify, or ready to resolve`
}

/** Formats a state of a case or session for people: `NEEDS_USER_INPUT` becomes "Needs your input". */
export function stateLabel(state: string): string {
  if (state === 'WONT_FIX') return 'Won’t fix'
  if (state === 'NEEDS_USER_INPUT') return 'Needs your input'
  const words = state.toLowerCase().replaceAll('_', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}
