/** The steps of a run, as its audit trail records them. */

import { spanText } from './amounts.ts'
import type { FieldsRead } from './events.ts'
import type { PlanStep, StepProof } from './plan-step.ts'
import { reportFacts } from './report-formats.ts'
import type { LineWith, TrailLine } from './trail.ts'

/** A step as the audit trail records it. */
export interface TrailStep {
  id: string
  proof: StepProof | null
  artifacts: StepArtifacts
  /** It is an agent, and no step of the plan. */
  isAgent: boolean
  /** It ran before the work, so that tests can be compared; it proves nothing. */
  isBaseline: boolean
  finished: LineWith<'step_finished'> | null
}

/** The artifact names of a step: one for all its output, one for its report if it prints one. */
export interface StepArtifacts {
  log: string | null
  report: string | null
}

/** The preferred names; a number is added if one is taken. */
export function stepArtifacts(number: number, step: Pick<PlanStep, 'id' | 'proof'>) {
  const stem = `${number}-${step.id}`
  const report = reportFacts(step.proof)
  return { log: `${stem}.log`, report: report && stem + report.extension }
}

export function stepsOf(number: number, trail: readonly TrailLine[]): TrailStep[] {
  const steps: TrailStep[] = []
  for (const line of trail) {
    if (line.event === 'step_started') steps.push(startedStep(number, line))
    if (line.event === 'step_finished') finish(steps, line)
  }
  return steps
}

/**
 * The steps of Work mode; an agent's planning is a step before these. Proof steps run at each stop of an agent in a
 * terminal: the last run of each counts.
 */
export function workStepsOf(number: number, trail: readonly TrailLine[]): TrailStep[] {
  const steps = runStepsOf(number, trail).filter(({ isBaseline }) => !isBaseline)
  return [...new Map(steps.map((step) => [step.id, step])).values()]
}

/** The steps that ran before the work, so that tests can be compared. */
export function baselineStepsOf(number: number, trail: readonly TrailLine[]): TrailStep[] {
  return runStepsOf(number, trail).filter(({ isBaseline }) => isBaseline)
}

function runStepsOf(number: number, trail: readonly TrailLine[]): TrailStep[] {
  const approved = trail.findLastIndex((line) => line.event === 'plan_approved')
  return stepsOf(number, trail.slice(approved + 1))
}

function startedStep(number: number, { fields }: LineWith<'step_started'>): TrailStep {
  const id = String(fields.step)
  const proof = (fields.proof as TrailStep['proof'] | undefined) ?? null
  const artifacts = { ...stepArtifacts(number, { id, proof }), ...named(number, fields) }
  return {
    id,
    proof,
    artifacts,
    isAgent: fields.language === undefined,
    isBaseline: fields.baseline === true,
    finished: null,
  }
}

function finish(steps: readonly TrailStep[], line: LineWith<'step_finished'>): void {
  const step = steps.findLast((each) => each.id === String(line.fields.step) && !each.finished)
  if (!step) return
  step.finished = line
  // the step wrote nothing, so a file of that name is not its own
  if (line.fields.output_bytes === 0) step.artifacts.log = null
  if (line.fields.output_bytes === 0 || line.fields.report_bytes === 0) step.artifacts.report = null
}

/** If the usual name was taken, the audit trail has the name that was used. */
function named(number: number, fields: FieldsRead<'step_started'>): Partial<StepArtifacts> {
  const isOurs = (name: unknown) => typeof name === 'string' && name.startsWith(`${number}-`)
  return {
    ...(isOurs(fields.log) ? { log: String(fields.log) } : {}),
    ...(isOurs(fields.report) ? { report: String(fields.report) } : {}),
  }
}

/** How the step ended, as a phrase: `exit 0, 41 ms`, `failed with exit 1, 2.0 s`. */
export function endOf({ finished }: TrailStep): string {
  if (!finished) return 'not finished'
  const { exit, expected, signal, timed_out, ended_by_service, start_error, duration_ms } =
    finished.fields
  const time = spanText(Number(duration_ms))
  if (start_error) return `could not be started: ${start_error}`
  if (timed_out) return `timed out after ${time}`
  if (ended_by_service) return `ended by the service when its turn was over, after ${time}`
  const isGood = expected ?? exit === 0
  if (exit !== null) return `${isGood ? '' : 'failed with '}exit ${exit}, ${time}`
  return signal ? `ended by ${signal} after ${time}` : 'stopped before it started'
}
