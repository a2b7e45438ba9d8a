import type { Child } from 'hono/jsx'
import type { CaseState } from '../../model/case-state.ts'
import type { SessionState } from '../../model/session-state.ts'
import { stateLabel, type Tone } from '../../model/state-groups.ts'

interface BadgeProps {
  tone: Tone | 'bad'
  state?: string
  children: Child
}

/** A word in a pill. The colour repeats what the word says. */
export function Badge({ tone, state, children }: BadgeProps) {
  return (
    <span class="badge" data-tone={tone} data-state={state}>
      {children}
    </span>
  )
}

const STATE_TONES: Partial<Record<CaseState | SessionState, BadgeProps['tone']>> = {
  INVESTIGATING: 'active',
  PLANNING: 'active',
  IMPLEMENTING: 'active',
  VERIFYING: 'active',
  RESOLVED: 'good',
  NEEDS_USER_INPUT: 'warn',
  BLOCKED: 'bad',
  created: 'active',
  planning: 'active',
  plan_ready: 'warn',
  approved: 'active',
  executing: 'active',
  complete: 'good',
  failed: 'bad',
}

/** The state of a case or a session. */
export function StateBadge({ state }: { state: string }) {
  return (
    <Badge tone={STATE_TONES[state as CaseState | SessionState] ?? 'muted'} state={state}>
      {stateLabel(state)}
    </Badge>
  )
}
