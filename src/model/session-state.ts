import { AppError } from './app-error.ts'

export const SESSION_STATES = [
  'created',
  'planning',
  'plan_ready',
  'approved',
  'executing',
  'complete',
  'failed',
  'abandoned',
] as const

export type SessionState = (typeof SESSION_STATES)[number]

export function isSessionState(text: unknown): text is SessionState {
  return (SESSION_STATES as readonly unknown[]).includes(text)
}

export type Trigger =
  | 'context_loaded'
  | 'planned'
  | 'stated'
  | 'approve'
  | 'revise'
  | 'start'
  | 'leave_line'
  | 'finish'
  | 'fail'
  | 'abandon'

/** The allowed state changes of a session. */
const MOVES: Record<Trigger, { from: readonly SessionState[]; to: SessionState }> = {
  context_loaded: { from: ['created'], to: 'planning' },
  planned: { from: ['planning'], to: 'plan_ready' },
  /** It is created with its plan. */
  stated: { from: ['created'], to: 'plan_ready' },
  approve: { from: ['plan_ready'], to: 'approved' },
  revise: { from: ['plan_ready'], to: 'planning' },
  start: { from: ['approved'], to: 'executing' },
  /** It waited in line, and did not start. */
  leave_line: { from: ['approved'], to: 'plan_ready' },
  finish: { from: ['executing'], to: 'complete' },
  fail: { from: ['created', 'planning', 'approved', 'executing'], to: 'failed' },
  abandon: {
    from: ['created', 'planning', 'plan_ready', 'approved', 'executing', 'complete'],
    to: 'abandoned',
  },
}

/** Whether a session can go from one state to the other. */
export function isStateChange(from: SessionState, to: SessionState): boolean {
  return Object.values(MOVES).some((move) => move.to === to && move.from.includes(from))
}

/** States in which something runs for the session. In plan_ready and complete it waits for the operator. */
const RUNNING: ReadonlySet<SessionState> = new Set(['created', 'planning', 'approved', 'executing'])

export function isActive(state: SessionState): boolean {
  return RUNNING.has(state)
}

/** Whether the session is still planning. */
export function isPlanning(state: SessionState): boolean {
  return state === 'created' || state === 'planning'
}

/** Whether the session's work has ended. A complete session still waits for its proof. */
export function hasEnded(state: SessionState): boolean {
  return state === 'complete' || state === 'failed' || state === 'abandoned'
}

/** Whether the state is final, so that the session gets sealed: failed, abandoned, or complete with proof. */
export function isFinalState(state: SessionState, proofAttached: boolean): boolean {
  return state === 'failed' || state === 'abandoned' || (state === 'complete' && proofAttached)
}

/** Returns the state that a trigger leads to. Throws `wrong_state` or `already_active` if it is not allowed. */
export function nextState(from: SessionState, trigger: Trigger): SessionState {
  const move = MOVES[trigger]
  if (move.from.includes(from)) return move.to
  if (trigger === 'approve' && (from === 'approved' || from === 'executing')) {
    throw new AppError('already_active', 'Work mode is already active for this session.')
  }
  throw new AppError(
    'wrong_state',
    `"${trigger}" is not possible while the session is ${from}; it must be ${move.from.join(' or ')}.`,
  )
}
