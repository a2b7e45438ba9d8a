import type { PlanReading } from '../markdown/plan-steps.ts'
import { counted } from '../model/amounts.ts'
import { AppError } from '../model/app-error.ts'
import type { PlanStep } from '../model/plan-step.ts'
import type { TrustedSettings } from '../workspace/settings/trusted-settings.ts'
import { providerOf } from './providers.ts'

/** Who carries a plan out once it is approved, as `execution.ts` does it: both consoles tell it. */
export interface Undertaking {
  /** For the reader of the plan. */
  text: string
  /** Whether the service itself runs this step. */
  willRun(step: PlanStep): boolean
  /** Why an approve would be refused whatever the plan says; null where it would not. */
  objection: string | null
}

export function undertaking(
  provider: string,
  { steps, isRunbook }: PlanReading,
  settings: TrustedSettings,
): Undertaking {
  const found = known(provider, settings)
  if (found instanceof AppError) {
    return { text: '', willRun: () => true, objection: found.message }
  }
  const { isAgent, executesAny } = found.runner.capabilities
  if (!isAgent || isRunbook) {
    const text =
      steps.length === 0
        ? 'This plan has no steps to run. Approving it completes the session, and nothing is done.'
        : `Casefile runs ${steps.length === 1 ? 'this one step' : `these ${steps.length} steps, one after the other`}; no agent takes part.`
    return { text, willRun: () => true, objection: null }
  }
  if (!executesAny) {
    const objection = `The provider ${provider} only plans, so its plan must be a runbook: run fences and prose, with no list and no other fence at top level. Edit the plan, or revise it.`
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
