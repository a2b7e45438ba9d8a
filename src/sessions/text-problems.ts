import { readPlan } from '../markdown/plan-steps.ts'
import type { TextsReading } from '../markdown/session-texts.ts'
import type { Problem } from '../model/problem.ts'
import type { Session } from '../model/session.ts'

/** The problems in a session's sections, which are read only when someone asks for them. */
export async function textProblems(
  { value, problems }: TextsReading,
  { number, state }: Session,
): Promise<Problem[]> {
  if (state !== 'plan_ready') return problems
  const plan = value?.plan ?? ''
  const invalid = (message: string): Problem => ({
    code: 'invalid_plan',
    file: `sessions/${number}.md`,
    line: null,
    message,
  })
  if (value && plan.trim() === '') {
    return [
      ...problems,
      invalid('the plan is blank: write one below "## Plan", or request a new one'),
    ]
  }
  const { errors } = await readPlan(plan)
  return [
    ...problems,
    ...errors.map(({ line, message }) => invalid(`line ${line} of the plan: ${message}`)),
  ]
}
