import { isClosed } from '../../model/attention.ts'
import { OWN_PROVIDER } from '../../model/settings.ts'
import { visibleText } from '../../rendering/hidden-characters.ts'
import { memoryPage, SETUP } from '../shell/addresses.ts'
import { HelpLink } from '../shell/help-link.tsx'
import type { CasePageData } from './case-data.ts'

/** What to do with a case that has no session yet. */
export function FirstSession({ data }: { data: CasePageData }) {
  const { json, broken, sessions, provider, providerTitle, objections } = data
  if (sessions.length > 0 || broken || isClosed(json.state) || json.state === 'NEEDS_USER_INPUT')
    return null
  if (provider === OWN_PROVIDER && lacksPlan(data)) {
    return (
      <div class="notice with-actions" id="first-session">
        <NothingToPlan data={data} />
      </div>
    )
  }
  return (
    <div class="notice with-actions" id="first-session">
      <div>
        <strong>
          {providerTitle === null
            ? 'The plan is ready to be read.'
            : `Next: let ${visibleText(providerTitle)} plan this.`}
        </strong>
        <p class="small muted">
          {providerTitle === null
            ? `It comes from ${SOURCES[data.runbook?.plans_from ?? 'runbook']}.`
            : 'It reads the case and the code, and changes nothing.'}{' '}
          Nothing runs until you approve the plan.
        </p>
      </div>
      {objections.folder === null && (
        <button type="button" class="primary needs-script" data-opens="new-session">
          Plan this case
        </button>
      )}
    </div>
  )
}

const SOURCES = {
  agent: 'the agent',
  runbook: 'runbook.md',
  description: 'the description',
  steps: 'the steps in casefile.md',
}

/** Whether a session without an agent would have nothing to plan with. */
export function lacksPlan({ runbook }: CasePageData): boolean {
  return runbook !== null && runbook.plans_from === null
}

/** The three ways out. */
export function NothingToPlan({ data: { id, runbook } }: { data: CasePageData }) {
  const command = runbook?.tests?.command
  return (
    <>
      <div>
        <strong>There is nothing to plan with yet.</strong>
        <p class="small muted">
          No agent plans here, and this case has no runbook. Choose one of these:{' '}
          <HelpLink topic="plan" />
        </p>
      </div>
      <div class="actions">
        <a class="button primary" href={SETUP}>
          Set up an agent
        </a>
        <a class="button" href={memoryPage(id, 'runbook.md')}>
          Write a runbook
        </a>
        {command === undefined ? (
          <a class="button" href={`${SETUP}#setup-proof`}>
            Say how the tests are run
          </a>
        ) : (
          <button type="button" class="needs-script" data-run-tests={id}>
            <span>
              Just run <code>{visibleText(command)}</code>
            </span>
          </button>
        )}
      </div>
    </>
  )
}
