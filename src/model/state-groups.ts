import { ATTENTION_KINDS, type AttentionKind } from './attention.ts'
import type { CaseState } from './case-state.ts'
import { capital } from './one-line.ts'

/** The six groups in which people see cases, in list order: first what a person can act on. */
export const STATE_GROUPS = ['waiting', 'blocked', 'running', 'open', 'parked', 'done'] as const

export type StateGroup = (typeof STATE_GROUPS)[number]

/** The meaning of a colour; pages and terminal choose the colour. */
export type Tone = 'warn' | 'info' | 'active' | 'plain' | 'muted' | 'good'

export const STATE_GROUP_LABELS: Readonly<Record<StateGroup, string>> = {
  waiting: 'Needs you',
  blocked: 'Blocked',
  running: 'Running',
  open: 'Open',
  parked: 'Parked',
  done: 'Done',
}

export const STATE_GROUP_TONES: Readonly<Record<StateGroup, Tone>> = {
  waiting: 'warn',
  blocked: 'plain',
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
  VERIFYING: 'open',
  RESOLVED: 'done',
  BLOCKED: 'blocked',
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
  question: 'waiting',
  problem: 'waiting',
  failed: 'waiting',
  proof: 'waiting',
  gate_open: 'waiting',
  blocked: 'blocked',
  running: 'running',
}

export function stateGroup(state: CaseState, need: AttentionKind | null = null): StateGroup {
  return need === null ? BY_STATE[state] : BY_NEED[need]
}

/** What a person can act on: the one count of header, tab, list, terminal, `index.md` and API (`needs=any`). */
export const NEEDS_YOU = ATTENTION_KINDS.filter((kind) => BY_NEED[kind] === 'waiting')

/** Labels what a case waits for, in one or two words. */
export const NEED_LABELS: Readonly<Record<AttentionKind, string>> = {
  plan: 'Plan',
  question: 'Question',
  problem: 'Problem',
  failed: 'Failed',
  proof: 'Proof',
  gate_open: 'Ready to resolve',
  blocked: 'Blocked',
  running: 'Running',
}

/** Instead of "Running", for a case whose session waits in line. */
export const IN_LINE = 'In line'

/** The number of cases of `NEEDS_YOU`, as every place says it. */
export function needYouText(count: number): string {
  return count === 1 ? '1 needs you' : `${count} need you`
}

/** Formats a state of a case or session for people: `NEEDS_USER_INPUT` becomes "Question", as in `NEED_LABELS`. */
export function stateLabel(state: string): string {
  if (state === 'WONT_FIX') return 'Won’t fix'
  if (state === 'NEEDS_USER_INPUT') return NEED_LABELS.question
  return capital(state.toLowerCase().replaceAll('_', ' '))
}
