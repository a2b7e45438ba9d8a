import { isClosed } from '../../model/attention.ts'
import { OWN_PROVIDER } from '../../model/settings.ts'
import { visibleText } from '../../rendering/hidden-characters.ts'
import { memoryPage, SETUP } from '../shell/addresses.ts'
import { CopiableText } from '../shell/copy-button.tsx'
import { HelpLink } from '../shell/help-link.tsx'
import type { CasePageData } from './data.ts'

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
  if (data.terminal !== null) return <StartInTerminal data={data} />
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

/** The agent has its hooks: its person starts it. */
function StartInTerminal({ data }: { data: CasePageData }) {
  const { id, provider, providerTitle, terminal, objections } = data
  const title = visibleText(providerTitle ?? provider)
  const isCurrent = terminal?.isCurrent === true
  return (
    <div class="notice with-actions" id="first-session">
      <div>
        <strong>
          {isCurrent
            ? `Next: start ${title} in your terminal.`
            : `Next: make this case current for ${title} in your terminal.`}
        </strong>
        <p class="small muted">
          {isCurrent
            ? 'This case is current in the folder of the workspace. What the agent does there belongs to it, and waits until you approve its plan.'
            : 'What the agent does in the folder of the workspace then belongs to this case, and waits until you approve its plan.'}
        </p>
      </div>
      <div class="actions">
        {isCurrent ? (
          <CopiableText text={provider} what={`the command for ${title}`} />
        ) : (
          <form class="needs-script" data-send="PUT" action="/current-case">
            <input type="hidden" name="folder" value="." />
            <input type="hidden" name="case_id" value={id} />
            <button type="submit" class="primary">
              Make it current
            </button>
          </form>
        )}
        {objections.folder === null && (
          <button type="button" class="needs-script" data-opens="new-session">
            Let Casefile start it
          </button>
        )}
      </div>
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
