import type { PlanReading } from '../markdown/plan-steps.ts'
import { counted } from '../model/amounts.ts'
import { AppError } from '../model/app-error.ts'
import type { PlanStep } from '../model/plan-step.ts'
import type { TrustedSettings } from '../workspace/settings/trusted-settings.ts'
import { providerOf } from './providers.ts'

/** What will happen once a plan is approved; shown in the console and the terminal. */
export interface ExecutionSummary {
  /** A text for the reader of the plan. */
  text: string
  /** Whether the service itself runs this step. */
  willRun(step: PlanStep): boolean
  /** Why approving would fail whatever the plan says; null if it would not. */
  objection: string | null
}

export function executionSummary(
  provider: string,
  { steps, isRunbook }: PlanReading,
  settings: TrustedSettings,
): ExecutionSummary {
  const found = known(provider, settings)
  if (found instanceof AppError) {
    return { text: '', willRun: () => true, objection: found.message }
  }
  const { isAgent, executesAny } = found.runner.capabilities
  if (!isAgent || isRunbook) {
    const text =
      steps.length === 0
        ? 'This plan has no steps to run. Approving it completes the session without running anything.'
        : `Casefile runs ${steps.length === 1 ? 'this one step' : `these ${steps.length} steps in order`}; no agent takes part.`
    return { text, willRun: () => true, objection: null }
  }
  if (!executesAny) {
    const objection = `The provider ${provider} only plans, so its plan must be a runbook: run fences and prose, with no list and no other fence at top level. Edit the plan, or request a new one.`
    return { text: '', willRun: () => true, objection }
  }
  const proving = steps.filter(({ proof }) => proof !== null)
  const after =
    proving.length === 0
      ? 'Casefile itself runs nothing.'
      : `Casefile then runs ${counted(proving.length, 'check')}: ${proving.map(({ id }) => id).join(', ')}.`
  return {
    text: `${provider} will carry out this plan. ${after}`,
    willRun: ({ proof }) => proof !== null,
    objection: null,
  }
}

function known(provider: string, settings: TrustedSettings) {
  try {
    return providerOf(provider, settings)
  } catch (error) {
    if (error instanceof AppError) return error
    throw error
  }
}
