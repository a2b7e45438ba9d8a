import { readPlan } from '../markdown/plan-steps.ts'
import { AppError } from '../model/app-error.ts'
import type { Provider } from './providers.ts'

/** Throws `invalid_plan` if any step of the plan cannot be parsed. */
export async function mustBeRunnable(plan: string): Promise<void> {
  if (plan.trim() === '') {
    throw new AppError(
      'invalid_plan',
      'The plan is blank, so there is nothing to approve. Write one (PUT …/plan, or below "## Plan" in the session file), or request a new one (POST …/revise).',
      { errors: [{ path: 'plan', message: 'expected a text, not only white space' }] },
    )
  }
  const { errors } = await readPlan(plan)
  if (errors.length === 0) return
  throw new AppError(
    'invalid_plan',
    `The plan cannot be run: line ${errors[0]!.line}: ${errors[0]!.message}. Edit the plan (PUT …/plan), then try again.`,
    { errors: errors.map(({ line, message }) => ({ path: `plan line ${line}`, message })) },
  )
}

/**
 * Throws `invalid_plan` if the provider can only plan and the plan is not a runbook, so nothing could carry it out.
 */
export async function mustBeExecutable(plan: string, { id, runner }: Provider): Promise<void> {
  if (runner.capabilities.executesAny || (await readPlan(plan)).isRunbook) return
  throw new AppError(
    'invalid_plan',
    `The provider "${id}" has no command for work, so its plan must be a runbook: run fences and prose, with no list and no other fence at top level. Edit the plan (PUT …/plan), or request a new one (POST …/revise).`,
  )
}
