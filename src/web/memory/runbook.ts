import { type PlanReading, readPlan } from '../../markdown/plan-steps.ts'
import { isClosedState } from '../../model/attention.ts'
import { type CaseContents, shownState } from '../../model/case-contents.ts'
import type { StepError } from '../../model/plan-step.ts'
import type { MarkedStep } from '../../rendering/markdown/options.ts'
import { findRunbook } from '../../runners/runbook-plan.ts'

/** What a runbook.md plans. */
export interface Runbook {
  /** The blocks that will run, by their lines in the file. */
  steps: MarkedStep[]
  errors: StepError[]
  /** Whether the case can be planned with it. */
  canPlan: boolean
}

/** `text`: of the file; empty if there is none. */
export async function loadRunbook(contents: CaseContents, text: string): Promise<Runbook> {
  const whole = await readPlan(text)
  const found = await findRunbook({ runbook: text, description: '', steps: [] })
  const planned = found === null ? [] : (await readPlan(found.plan)).steps
  return {
    steps: whole.errors.length > 0 ? [] : stepsOf(whole, planned),
    errors: whole.errors,
    canPlan: !isClosedState(shownState(contents)),
  }
}

/** Blocks in the hypothesis are no part of the plan. */
function stepsOf({ steps }: PlanReading, planned: PlanReading['steps']): MarkedStep[] {
  const isPlanned = ({ id, script }: PlanReading['steps'][number]) =>
    planned.some((step) => step.id === id && step.script === script)
  return steps.filter(isPlanned).map(({ script: _, ...step }) => step)
}
