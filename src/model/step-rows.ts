import { baselineId, type PlanStep } from './plan-step.ts'
import type { Session } from './session.ts'
import { wasEndedFromOutside } from './session-failure.ts'
import { hasEnded } from './session-state.ts'
import { stepsOf, type TrailStep } from './trail-steps.ts'

export type StepState = 'will_run' | 'running' | 'ok' | 'failed' | 'interrupted' | 'not_run'

/** A step in the list of a session: from the plan, from the audit trail, or from both. */
export interface StepRow {
  id: string
  state: StepState
  /** It ran before the approval, such as the run of an agent that wrote the plan. */
  isPlanning: boolean
  /** Null for the run of an agent, which is not a step of the plan. */
  plan: PlanStep | null
  /** It is a run of the step before the work, to see which tests fail already. */
  isBaseline: boolean
  /** When it started. */
  began: string | null
  durationMs: number | null
  /** How it ended, in words; empty while it runs. */
  end: string
  /** It failed, and the run continued. */
  wentOn: boolean
  /** The name of its log, if it has one. */
  log: string | null
}

/**
 * The steps of a session in the order in which they run. `willRun` says which steps of the plan the service
 * itself runs: for an agent only those that prove something. If a step ran several times, as it does at each stop of an
 * agent in a terminal, its last run counts.
 */
export function stepRows(
  session: Session,
  { steps }: { readonly steps: readonly PlanStep[] },
  willRun: (step: PlanStep) => boolean,
): StepRow[] {
  const { trail, number, state } = session
  const done = stepsOf(number, trail)
  const began = trail.filter(({ event }) => event === 'step_started').map(({ time }) => time)
  const approvedAt = trail.findLastIndex(({ event }) => event === 'plan_approved')
  const before = trail.slice(0, approvedAt + 1).filter(({ event }) => event === 'step_started')
  const rows = done.map((step, index) => {
    const isWork = index >= before.length && approvedAt >= 0
    const plan = isWork ? (steps.find((each) => idOf(each, step) === step.id) ?? null) : null
    const isLast = index === done.length - 1
    const place = {
      isPlanning: !isWork,
      wasStopped: isWork && isLast && wasEndedFromOutside(session),
    }
    return begunRow(step, plan, began[index]!, hasEnded(state), place)
  })
  const newest = rows.filter(({ id, plan }, at) => {
    return (
      plan === null || !rows.slice(at + 1).some((later) => later.plan !== null && later.id === id)
    )
  })
  const ran = new Set(rows.flatMap(({ plan, id }) => (plan ? id : [])))
  const early = steps.filter((step) => step.baseline && !ran.has(baselineId(step)))
  const rest = steps.filter((step) => !ran.has(step.id) && willRun(step))
  const planning = newest.filter(({ isPlanning }) => isPlanning)
  return [
    ...planning,
    ...early.map((step) => waitingRow(step, hasEnded(state), true)),
    ...newest.filter(({ isPlanning }) => !isPlanning),
    ...rest.map((step) => waitingRow(step, hasEnded(state), false)),
  ]
}

/** The id under which a step of the plan runs in the place of `ran`. */
function idOf(step: PlanStep, ran: TrailStep): string {
  return ran.isBaseline && step.baseline ? baselineId(step) : step.id
}

function begunRow(
  step: TrailStep,
  plan: PlanStep | null,
  began: string,
  hasEnded: boolean,
  { isPlanning, wasStopped }: { isPlanning: boolean; wasStopped: boolean },
): StepRow {
  const { finished } = step
  const base = {
    id: step.id,
    isPlanning,
    plan,
    isBaseline: step.isBaseline,
    began,
    log: step.artifacts.log,
  }
  if (!finished) {
    const state = hasEnded ? ('interrupted' as const) : ('running' as const)
    return { ...base, state, durationMs: null, end: hasEnded ? 'stopped' : '', wentOn: false }
  }
  const { exit, signal, timed_out, ended_by_service, start_error, duration_ms } = finished.fields
  const expected: unknown[] = plan?.expect ?? [0]
  const isExpected = step.isBaseline || expected.includes(exit)
  const isOk = !timed_out && !start_error && exit !== null && isExpected
  const isInterrupted =
    !isOk && !timed_out && !start_error && (wasStopped || (exit === null && !signal))
  const end = start_error
    ? `could not start (${String(start_error)})`
    : timed_out
      ? 'timed out'
      : exit === null
        ? signal
          ? `stopped (${String(signal)})`
          : 'stopped before it started'
        : ended_by_service
          ? 'ended by Casefile: its turn was over'
          : `exit ${String(exit)}`
  return {
    ...base,
    state: isOk ? 'ok' : isInterrupted ? 'interrupted' : 'failed',
    durationMs: typeof duration_ms === 'number' ? duration_ms : null,
    end,
    wentOn: !isOk && !isInterrupted && plan?.continue === true,
  }
}

function waitingRow(step: PlanStep, hasEnded: boolean, isBaseline: boolean): StepRow {
  return {
    id: isBaseline ? baselineId(step) : step.id,
    state: hasEnded ? 'not_run' : 'will_run',
    isPlanning: false,
    plan: step,
    isBaseline,
    began: null,
    durationMs: null,
    end: '',
    wentOn: false,
    log: null,
  }
}
