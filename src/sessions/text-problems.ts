import { readPlan } from '../markdown/plan-steps.ts'
import type { TextsReading } from '../markdown/session-texts.ts'
import type { Problem } from '../model/problem.ts'
import type { Session } from '../model/session.ts'

/** What is wrong with the sections of a session: they are read only when somebody asks for them. */
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
    return [...problems, invalid('the plan is blank: write one below "## Plan", or revise it')]
  }
  const { errors } = await readPlan(plan)
  return [
    ...problems,
    ...errors.map(({ line, message }) => invalid(`line ${line} of the plan: ${message}`)),
  ]
}
