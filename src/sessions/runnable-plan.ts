import { readPlan } from '../markdown/plan-steps.ts'
import { Refusal } from '../model/refusal.ts'

/** A plan that says anything the runner would not understand is refused whole (design §6). */
export async function mustBeRunnable(plan: string): Promise<void> {
  if (plan.trim() === '') {
    throw new Refusal('bad_request', 'The plan is blank: there would be nothing to approve.', {
      errors: [{ path: 'plan', message: 'expected a text that says something' }],
    })
  }
  const { errors } = await readPlan(plan)
  if (errors.length === 0) return
  throw new Refusal(
    'invalid_plan',
    `The plan cannot be run as it stands: line ${errors[0]!.line}: ${errors[0]!.message}. Edit the plan (PUT …/plan), then try again.`,
    { errors: errors.map(({ line, message }) => ({ path: `plan line ${line}`, message })) },
  )
}
