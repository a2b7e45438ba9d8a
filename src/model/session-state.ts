import { AppError } from './app-error.ts'
import type { TrailLine } from './trail.ts'

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
  | 'approve'
  | 'revise'
  | 'start'
  | 'finish'
  | 'fail'
  | 'abandon'

/** The moves that a session may make; all others are refused. */
const MOVES: Record<Trigger, { from: readonly SessionState[]; to: SessionState }> = {
  context_loaded: { from: ['created'], to: 'planning' },
  planned: { from: ['planning'], to: 'plan_ready' },
  approve: { from: ['plan_ready'], to: 'approved' },
  revise: { from: ['plan_ready'], to: 'planning' },
  start: { from: ['approved'], to: 'executing' },
  finish: { from: ['executing'], to: 'complete' },
  fail: { from: ['created', 'planning', 'approved', 'executing'], to: 'failed' },
  abandon: {
    from: ['created', 'planning', 'plan_ready', 'approved', 'executing', 'complete'],
    to: 'abandoned',
  },
}

/** States in which something runs for the session; plan_ready and complete wait for the operator. */
const RUNNING: ReadonlySet<SessionState> = new Set(['created', 'planning', 'approved', 'executing'])

export function isRunning(state: SessionState): boolean {
  return RUNNING.has(state)
}

/** Whether its plan is still being made. */
export function isPlanning(state: SessionState): boolean {
  return state === 'created' || state === 'planning'
}

/** Whether work on it has come to its end; a complete session still waits for its proof. */
export function isOver(state: SessionState): boolean {
  return state === 'complete' || state === 'failed' || state === 'abandoned'
}

/** An ended session is sealed: proof attached, abandoned or failed. */
export function isEnded(state: SessionState, proofAttached: boolean): boolean {
  return state === 'failed' || state === 'abandoned' || (state === 'complete' && proofAttached)
}

/** The state that a trigger leads to; a AppError when the session may not move so. */
export function moved(from: SessionState, trigger: Trigger): SessionState {
  const move = MOVES[trigger]
  if (move.from.includes(from)) return move.to
  if (trigger === 'approve' && (from === 'approved' || from === 'executing')) {
    throw new AppError('already_active', 'Work mode is already active for this session.')
  }
  throw new AppError(
    'wrong_state',
    `A session that is ${from} cannot take "${trigger}"; that needs ${move.from.join(' or ')}.`,
  )
}

/** The last line that names a state decides; null when no line does. */
export function stateInTrail(trail: readonly TrailLine[]): SessionState | null {
  for (let index = trail.length - 1; index >= 0; index--) {
    const line = trail[index]!
    if (line.event === 'session_created') return 'created'
    const state = line.event === 'session_state_changed' ? line.fields.new_state : undefined
    if (isSessionState(state)) return state
  }
  return null
}
