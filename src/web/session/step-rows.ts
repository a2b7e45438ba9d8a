import type { PlanReading } from '../../markdown/plan-steps.ts'
import type { PlanStep } from '../../model/plan-step.ts'
import type { Session } from '../../model/session.ts'
import { isOver } from '../../model/session-state.ts'
import { lastOf } from '../../model/trail.ts'
import { stepsOf, type TrailStep } from '../../sessions/trail-steps.ts'

export type StepState = 'will_run' | 'running' | 'ok' | 'failed' | 'broken_off' | 'not_run'

/** A step as the list of a session shows it: from the plan, from the trail, or from both. */
export interface StepRow {
  id: string
  state: StepState
  /** Before the plan was approved, as an agent's run that made it. */
  isPlanning: boolean
  /** Null for an agent's own run, which is no step of the plan. */
  plan: PlanStep | null
  /** Since when it runs, or when it began. */
  began: string | null
  durationMs: number | null
  /** How it ended, in words; empty while it has not. */
  end: string
  /** What it failed with did not stop the run. */
  wentOn: boolean
  /** What it gives as evidence, in words; empty where it gives none. */
  proves: string
  /** Its log, where it has one. */
  log: string | null
}

/**
 * The steps of a session in the order in which they run. `willRun` says which of the plan's the
 * service itself runs: behind an agent only those that give proof.
 */
export function stepRows(
  session: Session,
  { steps }: Pick<PlanReading, 'steps'>,
  willRun: (step: PlanStep) => boolean,
): StepRow[] {
  const { trail, number, state } = session
  const done = stepsOf(number, trail)
  const began = trail.filter(({ event }) => event === 'step_started').map(({ time }) => time)
  const approvedAt = trail.findLastIndex(({ event }) => event === 'plan_approved')
  const before = trail.slice(0, approvedAt + 1).filter(({ event }) => event === 'step_started')
  const rows = done.map((step, index) => {
    const isWork = index >= before.length && approvedAt >= 0
    const plan = isWork ? (steps.find(({ id }) => id === step.id) ?? null) : null
    const isLast = index === done.length - 1
    const place = { isPlanning: !isWork, wasStopped: isWork && isLast && wasStopped(session) }
    return begunRow(step, plan, began[index]!, isOver(state), place)
  })
  const ran = new Set(rows.flatMap(({ plan }) => plan?.id ?? []))
  const rest = steps.filter((step) => !ran.has(step.id) && willRun(step))
  return [...rows, ...rest.map((step) => waitingRow(step, isOver(state)))]
}

/** Whether its run was ended from outside, by an abandon, a stop of the service or its time limit. */
function wasStopped({ state, trail }: Session): boolean {
  if (state === 'abandoned') return true
  const reason = lastOf(trail, 'session_state_changed')?.fields.reason
  return state === 'failed' && !String(reason ?? '').startsWith('The run stopped:')
}

function begunRow(
  step: TrailStep,
  plan: PlanStep | null,
  began: string,
  isOver: boolean,
  { isPlanning, wasStopped }: { isPlanning: boolean; wasStopped: boolean },
): StepRow {
  const { finished } = step
  const base = {
    id: step.id,
    isPlanning,
    plan,
    began,
    proves: provesText(step.proof),
    log: step.artifacts.log,
  }
  if (!finished) {
    const state = isOver ? ('broken_off' as const) : ('running' as const)
    return { ...base, state, durationMs: null, end: isOver ? 'broken off' : '', wentOn: false }
  }
  const { exit, signal, timed_out, ended_by_service, start_error, duration_ms } = finished.fields
  const expected: unknown[] = plan?.expect ?? [0]
  const isOk = !timed_out && !start_error && exit !== null && expected.includes(exit)
  const isBrokenOff =
    !isOk && !timed_out && !start_error && (wasStopped || (exit === null && !signal))
  const end = start_error
    ? `could not be started (${String(start_error)})`
    : timed_out
      ? 'stopped by its time-out'
      : exit === null
        ? signal
          ? `ended by ${String(signal)}`
          : 'stopped before it began'
        : ended_by_service
          ? 'ended by the service, its turn was over'
          : `exit ${String(exit)}`
  return {
    ...base,
    state: isOk ? 'ok' : isBrokenOff ? 'broken_off' : 'failed',
    durationMs: typeof duration_ms === 'number' ? duration_ms : null,
    end,
    wentOn: !isOk && !isBrokenOff && plan?.continue === true,
  }
}

function waitingRow(step: PlanStep, isOver: boolean): StepRow {
  return {
    id: step.id,
    state: isOver ? 'not_run' : 'will_run',
    isPlanning: false,
    plan: step,
    began: null,
    durationMs: null,
    end: '',
    wentOn: false,
    proves: provesText(step.proof),
    log: null,
  }
}

function provesText(proof: PlanStep['proof']): string {
  if (proof === 'tap') return 'test report (TAP)'
  if (proof === 'junit') return 'test report (JUnit)'
  if (proof === 'go') return 'test report (Go)'
  return proof === 'log' ? 'its output' : ''
}
