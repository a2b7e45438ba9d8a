import { nextCommands } from '../../init/next-commands.ts'
import type { SetupStatus } from '../../init/setup.ts'
import { OWN_PROVIDER } from '../../model/settings.ts'
import { visibleText } from '../../rendering/hidden-characters.ts'
import { FirstCaseFields } from '../setup/first-case.tsx'
import { SetupPanel } from '../setup/setup-panel.tsx'
import { helpPage, SETUP } from '../shell/addresses.ts'

export interface NoCasesProps {
  isConfigured: boolean
  /** What was found on this machine; null until somebody has asked. */
  found: SetupStatus | null
  /** The provider of new sessions. */
  provider: string
}

/** A workspace without cases: sets it up, and makes the first case. */
export function NoCases({ isConfigured, found, provider }: NoCasesProps) {
  return (
    <div class="first-hour">
      {isConfigured ? <FirstCase /> : <SetupPanel found={found} isFirst />}
      <NextSteps provider={isConfigured ? provider : null} found={found} />
    </div>
  )
}

function FirstCase() {
  return (
    <form
      class="setup-form needs-script stack"
      id="first-case"
      data-send="POST"
      action="/cases"
      data-then="/case/{id}"
      autocomplete="off"
    >
      <div class="card form">
        <FirstCaseFields heading="Your first case" />
        <div class="actions">
          <button type="submit" class="primary">
            Create and plan
          </button>
        </div>
      </div>
    </form>
  )
}

/** `provider` is null if it is still to be chosen. */
function NextSteps({ provider, found }: { provider: string | null; found: SetupStatus | null }) {
  const agent = found?.agents.find(({ id }) => id === provider)?.title ?? provider
  const inTerminal = found?.hooks.some((hook) => hook.agent === provider) ?? false
  return (
    <aside class="card" aria-labelledby="next-title">
      <h2 id="next-title">What happens then</h2>
      <ol class="next-steps">
        <li>
          <strong>You describe</strong> the work as a case.
        </li>
        <li>
          {provider === OWN_PROVIDER ? (
            <>
              <strong>You write a runbook</strong>, the commands to run.
            </>
          ) : (
            <>
              <strong>{agent ?? 'Your agent, or a runbook,'} plans.</strong> It reads, and changes
              nothing.
            </>
          )}
        </li>
        <li>
          <strong>You read the plan</strong>, comment on it, and approve it.
        </li>
        <li>
          <strong>It runs.</strong> Casefile records output, changes and test results.
        </li>
        <li>
          <strong>You close the case</strong> with the proof.
        </li>
      </ol>
      {provider !== null && (
        <p class="small">
          {provider === OWN_PROVIDER && 'No agent is set up. '}
          <a href={SETUP}>{provider === OWN_PROVIDER ? 'Set one up' : 'Change who plans'}</a>
        </p>
      )}
      {provider !== null && (
        <p class="small">
          In a terminal:
          {nextCommands({ provider, inTerminal }).map((command) => (
            <code class="setup-next">{visibleText(command)}</code>
          ))}
        </p>
      )}
      <ul class="plain-list small">
        <li>
          <a href={helpPage('exchange')}>Import issues from GitHub</a>
        </li>
        <li>
          Just looking? <code>casefile demo</code> shows the whole way in a temporary folder.
        </li>
      </ul>
    </aside>
  )
}
