export const CASE_STATES = [
  'OPEN',
  'INVESTIGATING',
  'PLANNING',
  'IMPLEMENTING',
  'VERIFYING',
  'RESOLVED',
  'BLOCKED',
  'NEEDS_USER_INPUT',
  'NON_ISSUE',
  'WATCHLIST',
  'WONT_FIX',
  'COMPRESSED',
] as const

export type CaseState = (typeof CASE_STATES)[number]

export function isCaseState(text: string): text is CaseState {
  return (CASE_STATES as readonly string[]).includes(text)
}

export const SESSION_TYPES = ['planning', 'implementing', 'investigating', 'verifying'] as const
export type SessionType = (typeof SESSION_TYPES)[number]

export function isSessionType(text: string): text is SessionType {
  return (SESSION_TYPES as readonly string[]).includes(text)
}

/** What a new session does unless something else is chosen, in the console and on the command line. */
export function usualSessionType(caseType: string): SessionType {
  return caseType === 'investigation' ? 'investigating' : 'implementing'
}

export type SessionMilestone = 'created' | 'approved' | 'completed'

/** The case state after a session's milestone, by session type. Other types keep the state. */
const MOVES: Record<
  SessionMilestone,
  { from: readonly CaseState[]; to: Partial<Record<SessionType, CaseState>> }
> = {
  created: {
    from: ['OPEN'],
    to: {
      investigating: 'INVESTIGATING',
      planning: 'PLANNING',
      implementing: 'PLANNING',
      verifying: 'PLANNING',
    },
  },
  approved: {
    from: ['OPEN', 'INVESTIGATING', 'PLANNING'],
    to: {
      investigating: 'INVESTIGATING',
      planning: 'IMPLEMENTING',
      implementing: 'IMPLEMENTING',
      verifying: 'VERIFYING',
    },
  },
  completed: {
    from: ['OPEN', 'INVESTIGATING', 'PLANNING', 'IMPLEMENTING', 'VERIFYING', 'NEEDS_USER_INPUT'],
    to: { implementing: 'VERIFYING', verifying: 'VERIFYING' },
  },
}

/** Returns the case state after a session's milestone; the same state if it does not change. */
export function stateAfter(
  milestone: SessionMilestone,
  type: SessionType,
  state: CaseState,
): CaseState {
  const move = MOVES[milestone]
  return move.from.includes(state) ? (move.to[type] ?? state) : state
}
