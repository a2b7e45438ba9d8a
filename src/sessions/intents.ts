import { intentPlan } from '../markdown/intent.ts'
import { readPlan } from '../markdown/plan-steps.ts'
import { sha256 } from '../markdown/session-file.ts'
import { AppError } from '../model/app-error.ts'
import type { Case } from '../model/case.ts'
import { type CaseContents, sessionOf } from '../model/case-contents.ts'
import { createSession, type NewSession } from '../model/decide-session.ts'
import type { Actor } from '../model/history.ts'
import type { Intent } from '../model/intent.ts'
import type { Session } from '../model/session.ts'
import { STANDING_ACTOR } from '../model/standing.ts'
import { statedHypothesis } from '../runners/runbook-plan.ts'
import type { Approve } from './approval.ts'
import { standingOver } from './conversations/standing-calls.ts'
import type { SessionDeps } from './deps.ts'
import type { Provider } from './providers.ts'

interface IntentDeps
  extends Pick<SessionDeps, 'store' | 'plans' | 'settings' | 'newId' | 'now' | 'log'> {
  approve: Approve
  newNumber(caseId: string): Promise<number>
}

interface Wanted {
  intent: Intent
  chosen: Provider
  named: Omit<NewSession, 'id' | 'number' | 'written'>
  /** Whether the request may come from an agent: one that runs now can send it so that it is not recognized. */
  mayBeOfAgent: boolean
}

/**
 * Creates a session whose plan is an intent. It waits for approval, unless a standing intent gives it, which takes that no
 * agent runs.
 */
export async function startWithIntent(
  deps: IntentDeps,
  present: CaseContents,
  { intent, chosen, named, mayBeOfAgent }: Wanted,
  by: Actor,
): Promise<{ contents: CaseContents; session: Session }> {
  const { store, now } = deps
  const caseId = present.case.id
  const written = await writtenIntent(present.case, intent, chosen)
  const wanted = { ...named, id: deps.newId(), number: await deps.newNumber(caseId), written }
  await deps.plans.store(written.plan)
  const contents = await store.update(caseId, (each) => createSession(each, wanted, now()), { by })
  const made = { contents, session: sessionOf(contents, wanted.id) }
  const standing = mayBeOfAgent ? null : await standingOver(written.plan, await deps.settings())
  if (standing === null) return made
  return approveByStanding(deps, made, { standing, plan_sha256: written.sha256 })
}

/** The session as it is then; it waits for a person if it cannot start. */
async function approveByStanding(
  { approve, log }: Pick<IntentDeps, 'approve' | 'log'>,
  made: { contents: CaseContents; session: Session },
  approval: { standing: string; plan_sha256: string },
): Promise<{ contents: CaseContents; session: Session }> {
  const { case_id, id, number } = made.session
  try {
    const contents = await approve(case_id, id, { ...approval, queue: true, by: STANDING_ACTOR })
    return { contents, session: sessionOf(contents, id) }
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    log(`session ${number} of case ${case_id} waits for a person: ${error.message}`)
    return made
  }
}

/** The texts of a session that is created with an intent. Throws if it cannot be carried out. */
async function writtenIntent(
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
    `Only an agent can carry out an intent, and ${id} is not one. Name an agent as the provider (--provider claude), or write a plan instead of an intent.`,
  )
}
