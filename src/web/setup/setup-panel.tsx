import { type Agent, proposedAgent } from '../../doctor/agents.ts'
import { setupEtag } from '../../http/routes/setup.ts'
import type { SetupStatus } from '../../init/setup.ts'
import { OWN_PROVIDER } from '../../model/settings.ts'
import { visibleText } from '../../rendering/hidden-characters.ts'
import { CASES } from '../shell/addresses.ts'
import { CopiableText } from '../shell/copy-button.tsx'
import { InputField } from '../shell/field.tsx'
import { FirstCaseFields } from './first-case.tsx'

interface SetupPanelProps {
  /** What was found on this machine; null until somebody has asked. */
  found: SetupStatus | null
  /** The form also makes the first case. */
  isFirst: boolean
}

/** The form that sets a workspace up; client.ts fills it once the agents were asked, and makes the case. */
export function SetupPanel({ found, isFirst }: SetupPanelProps) {
  return (
    <>
      <noscript>
        <p class="notice">
          This form needs JavaScript. <code>casefile init</code> asks the same in a terminal.
        </p>
      </noscript>
      <form
        class="setup-form needs-script stack"
        id="setup-form"
        data-send="PUT"
        action="/setup"
        data-then={CASES}
        data-if-match={found ? setupEtag(found.settings_sha256) : undefined}
        data-only-changed={found?.configured ? '' : undefined}
        autocomplete="off"
      >
        <div class="card form" id="setup-answers" data-agents={found ? 'known' : 'unknown'}>
          {found === null ? (
            <p class="setup-wait" role="status">
              <span class="spinner" aria-hidden="true" /> Looking for agents on this machine…
            </p>
          ) : (
            <Questions found={found} />
          )}
        </div>
        {isFirst && (
          <div class="card form">
            <FirstCaseFields heading="Your first case" isPart />
          </div>
        )}
        <div class="actions">
          <button type="submit" class="primary">
            {isFirst ? 'Save, create and plan' : 'Save'}
          </button>
          {!isFirst && (
            <a class="button quiet" href={CASES}>
              Cancel
            </a>
          )}
          <span class="small muted">
            Writes <code>casefile.md</code>.
          </span>
        </div>
      </form>
    </>
  )
}

function Questions({ found }: { found: SetupStatus }) {
  const { configured, provider, agents, tests } = found
  const isOffered = (agent: Agent) => !isAbsent(agent) || (configured && agent.id === provider)
  const chosen = choose(found)
  const offered = agents.filter(isOffered)
  return (
    <>
      <fieldset class="setup-question stack">
        <legend>Who plans the work?</legend>
        <div class="setup-agents stack">
          {offered.map((agent) => (
            <AgentChoice agent={agent} isChosen={agent.id === chosen} isOffered />
          ))}
          <label class="choice">
            <input
              type="radio"
              name="provider"
              value={OWN_PROVIDER}
              required
              checked={chosen === OWN_PROVIDER}
            />
            <span>
              <strong>No agent: I write runbooks</strong>
              <span class="hint">
                A runbook is a list of commands. Casefile runs them, once you approve.
              </span>
            </span>
          </label>
          {agents
            .filter((agent) => !isOffered(agent))
            .map((agent) => (
              <AgentChoice agent={agent} />
            ))}
        </div>
        {offered.some(({ can_hook }) => can_hook) && (
          <p class="hint">
            Casefile starts the agent. To start it in your own terminal:{' '}
            <code>casefile agent install</code>
          </p>
        )}
        <button type="button" class="quiet compact setup-again" data-find-agents>
          Check again
        </button>
      </fieldset>
      <div class="setup-question" id="setup-proof">
        <InputField
          id="setup-tests"
          label="Which command runs the tests?"
          hint={`${tests === null ? 'None was found.' : `From ${tests.source}.`} ${
            found.checklist.length === 0
              ? 'With one, each new case must prove that all tests pass.'
              : 'Agents and runbooks use it.'
          }`}
          name="tests"
          class="code"
          value={tests?.command ?? ''}
          data-empty="null"
          placeholder="npm test"
          spellcheck={false}
        />
      </div>
    </>
  )
}

function isAbsent({ status }: Agent): boolean {
  return status === 'not_installed' || status === 'not_trusted'
}

/** The present provider; in a new workspace the only agent that is ready. Null if several are. */
function choose({ configured, provider, agents }: SetupStatus): string | null {
  if (configured) return provider
  const isUsable = ({ status }: Agent) => status === 'ready' || status === 'unknown_login'
  return proposedAgent(agents)?.id ?? (agents.some(isUsable) ? null : OWN_PROVIDER)
}

const STATUS: Record<Agent['status'], { text: string; tone: string }> = {
  ready: { text: 'Ready', tone: 'good' },
  unknown_login: { text: 'Found', tone: 'good' },
  not_logged_in: { text: 'Needs login', tone: 'warn' },
  not_installed: { text: 'Not installed', tone: 'muted' },
  not_trusted: { text: 'Not trusted', tone: 'muted' },
}

interface AgentChoiceProps {
  agent: Agent
  isOffered?: boolean
  isChosen?: boolean
}

function AgentChoice({ agent, isOffered = false, isChosen = false }: AgentChoiceProps) {
  const { id, title, status, version, advice } = agent
  const { text, tone } = STATUS[status]
  return (
    <div class="setup-agent row">
      <label class="choice">
        <input
          type="radio"
          name="provider"
          value={id}
          required
          checked={isChosen}
          disabled={!isOffered}
        />
        <span>
          <strong>{visibleText(title)}</strong>{' '}
          {version !== null && <span class="small muted">{visibleText(version)}</span>}{' '}
          <span class="badge" data-tone={tone}>
            {text}
          </span>
          {status === 'unknown_login' && (
            <span class="hint">It doesn't say whether you are logged in. Start it once.</span>
          )}
        </span>
      </label>
      {advice !== null && (
        <p class="setup-advice small">
          <CopiableText text={advice} what={`the command for ${title}`} />
        </p>
      )}
    </div>
  )
}
