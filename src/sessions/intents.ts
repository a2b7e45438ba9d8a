import { intentPlan } from '../markdown/intent.ts'
import { readPlan } from '../markdown/plan-steps.ts'
import { sha256 } from '../markdown/session-file.ts'
import { AppError } from '../model/app-error.ts'
import type { Case } from '../model/case.ts'
import type { NewSession } from '../model/decide-session.ts'
import type { Intent } from '../model/intent.ts'
import { statedHypothesis } from '../runners/runbook-plan.ts'
import type { Provider } from './providers.ts'

/** The texts of a session that is created with an intent. Throws if it cannot be carried out. */
export async function writtenIntent(
  { description }: Pick<Case, 'description'>,
  intent: Intent,
  { id, runner }: Provider,
): Promise<NonNullable<NewSession['written']>> {
  const plan = intentPlan(intent)
  const { errors } = await readPlan(plan)
  if (errors.length > 0) {
    throw new AppError('invalid_plan', `The intent is not valid: ${errors[0]!.message}.`, {
      errors: errors.map(({ message }) => ({ path: 'intent', message })),
    })
  }
  const { isAgent, executesAny } = runner.capabilities
  if (isAgent && executesAny) {
    const hypothesis = (await statedHypothesis(description)) ?? 'None: the plan is an intent.'
    return { plan, hypothesis, sha256: sha256(plan) }
  }
  throw new AppError(
    'invalid_plan',
    `An intent needs an agent that carries it out, and ${id} is none. Name one as the provider (--provider claude), or write a plan.`,
  )
}
