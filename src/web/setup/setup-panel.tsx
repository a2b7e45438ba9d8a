import type { Agent } from '../../doctor/agents.ts'
import type { SetupStatus } from '../../init/setup.ts'
import { OWN_PROVIDER } from '../../model/settings.ts'
import { visibleText } from '../../rendering/hidden-characters.ts'
import { CASES } from '../shell/addresses.ts'
import { CopiableText } from '../shell/copy-button.tsx'
import { Field } from '../shell/field.tsx'
import { FirstCaseFields } from './first-case.tsx'

interface SetupPanelProps {
  /** What was found on this machine; null until somebody has asked. */
  found: SetupStatus | null
  /** The form also makes the first case. */
  isFirst: boolean
}

/** The form that sets a workspace up; client/setup.ts sends it, and fills it once the agents were asked. */
export function SetupPanel({ found, isFirst }: SetupPanelProps) {
  return (
    <>
      <noscript>
        <p class="notice">
          This form needs JavaScript. <code>casefile init</code> asks the same in a terminal.
        </p>
      </noscript>
      <form class="setup-form needs-script" id="setup-form" action="/setup" autocomplete="off">
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
            <FirstCaseFields heading="Your first case" />
          </div>
        )}
        <div class="actions">
          <button type="submit" class="primary">
            {isFirst ? 'Save and create the first case' : 'Save'}
          </button>
          {isFirst ? (
            <button type="submit" id="save-setup" formnovalidate>
              Only save
            </button>
          ) : (
            <a class="button quiet" href={CASES}>
              Cancel
            </a>
          )}
          <span class="muted small">
            Your answers go into <code>casefile.md</code> in this folder. You can change them at any
            time.
          </span>
        </div>
      </form>
    </>
  )
}

function Questions({ found }: { found: SetupStatus }) {
  const { provider, hooks } = found
  const agents = found.agents.filter(isShown)
  const chosen = choose(found)
  const inTerminal = hooks.some(({ agent }) => agent === provider)
  return (
    <>
      <fieldset class="setup-question">
        <legend>Who plans the work?</legend>
        <div class="setup-agents">
          {agents
            .filter(({ status }) => status !== 'not_installed' && status !== 'not_trusted')
            .map((agent) => (
              <AgentChoice agent={agent} isChosen={agent.id === chosen} />
            ))}
          <label class="choice">
            <input
              type="radio"
              name="provider"
              value={OWN_PROVIDER}
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
            .filter(({ status }) => status === 'not_installed' || status === 'not_trusted')
            .map((agent) => (
              <AgentChoice agent={agent} isChosen={false} />
            ))}
        </div>
        <button type="button" class="quiet compact setup-again" data-find-agents>
          Look again
        </button>
      </fieldset>
      <fieldset class="setup-question" id="setup-where">
        <legend>Who starts the agent?</legend>
        <div class="choices">
          <Where value="spawned" title="Casefile does" isChosen={!inTerminal}>
            You press a button here, read the plan, and approve it.
          </Where>
          <Where value="terminal" title="I do, in my terminal" isChosen={inTerminal}>
            Casefile installs hooks for this folder: the agent can't change files before you approve
            its plan.
          </Where>
        </div>
      </fieldset>
      <Proof found={found} />
    </>
  )
}

/** The form of an agent that speaks ACP is the same agent: the menu of a session has it. */
function isShown({ kind, id }: Agent): boolean {
  return kind === 'command' || !id.endsWith('-acp')
}

/** The present provider; in a new workspace the only agent that is ready. */
function choose({ configured, provider, agents }: SetupStatus): string {
  if (configured) return provider
  const ready = agents.filter((agent) => isShown(agent) && agent.status === 'ready')
  const likely = agents.filter((agent) => isShown(agent) && agent.status === 'unknown_login')
  const [first] = ready.length > 0 ? ready : likely
  return first?.id ?? OWN_PROVIDER
}

const STATUS: Record<Agent['status'], { text: string; tone: string }> = {
  ready: { text: 'Ready', tone: 'good' },
  unknown_login: { text: 'Found', tone: 'good' },
  not_logged_in: { text: 'Needs login', tone: 'warn' },
  not_installed: { text: 'Not installed', tone: 'muted' },
  not_trusted: { text: 'Not trusted', tone: 'muted' },
}

function AgentChoice({ agent, isChosen }: { agent: Agent; isChosen: boolean }) {
  const { id, title, status, version, advice, can_hook } = agent
  const isAbsent = status === 'not_installed' || status === 'not_trusted'
  const { text, tone } = STATUS[status]
  return (
    <div class="setup-agent">
      <label class="choice">
        <input
          type="radio"
          name="provider"
          value={id}
          checked={isChosen}
          disabled={isAbsent}
          data-hooks={can_hook ? '' : undefined}
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

function Where({
  value,
  title,
  isChosen,
  children,
}: {
  value: string
  title: string
  isChosen: boolean
  children: string
}) {
  return (
    <label class="choice">
      <input type="radio" name="where" value={value} checked={isChosen} />
      <span>
        <strong>{title}</strong>
        <span class="hint">{children}</span>
      </span>
    </label>
  )
}

/** What a new case has to prove. */
function Proof({ found: { configured, tests, checklist } }: { found: SetupStatus }) {
  const isUsed = configured ? checklist.length > 0 : tests !== null
  return (
    <fieldset class="setup-question" id="setup-proof">
      <legend>What shows that the work is right?</legend>
      <div class="choices">
        <label class="choice">
          <input type="radio" name="proof" value="tests" checked={isUsed} />
          <span>
            <strong>All tests pass</strong>
            <span class="hint">Each new case asks for it before it can be resolved.</span>
          </span>
        </label>
        <label class="choice">
          <input type="radio" name="proof" value="none" checked={!isUsed} />
          <span>
            <strong>I say so in each case</strong>
            <span class="hint">A test report, a picture, a measurement, a note.</span>
          </span>
        </label>
      </div>
      <Field
        id="setup-tests"
        label="Command that runs the tests"
        hint={
          tests === null
            ? 'None was found. Agents and runbooks use it.'
            : `From ${tests.source}. Agents and runbooks use it.`
        }
      >
        <input
          id="setup-tests"
          class="code"
          value={tests?.command ?? ''}
          placeholder="npm test"
          spellcheck={false}
          aria-describedby="setup-tests-hint"
        />
      </Field>
    </fieldset>
  )
}
