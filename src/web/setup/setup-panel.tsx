import { type Agent, proposedAgent } from '../../doctor/agents.ts'
import type { MemoryKind } from '../../git/memory-kind.ts'
import { setupEtag } from '../../http/routes/setup.ts'
import { ALL_TESTS_PASS, type SetupStatus } from '../../init/setup.ts'
import { OWN_PROVIDER } from '../../model/settings.ts'
import { visibleText } from '../../rendering/hidden-characters.ts'
import { CASES } from '../shell/addresses.ts'
import { CopiableText } from '../shell/copy-button.tsx'
import { Field } from '../shell/field.tsx'
import { FirstCaseFields } from './first-case.tsx'
import { InstalledHooks } from './installed-hooks.tsx'

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
      <form
        class="setup-form needs-script stack"
        id="setup-form"
        action="/setup"
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
            <FirstCaseFields heading="Your first case" />
          </div>
        )}
        <section class="card" id="setup-plan" aria-live="polite" hidden />
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
        </div>
      </form>
    </>
  )
}

function Questions({ found }: { found: SetupStatus }) {
  const { configured, provider, hooks } = found
  const present = configured ? provider : null
  const { agents } = found
  const isOffered = (agent: Agent) => !isAbsent(agent) || agent.id === present
  const chosen = choose(found)
  const inTerminal = hooks.some(
    ({ agent, installed }) => agent === provider && installed !== 'unreadable',
  )
  return (
    <>
      <fieldset class="setup-question stack">
        <legend>Who plans the work?</legend>
        <div class="setup-agents stack">
          {agents.filter(isOffered).map((agent) => (
            <AgentChoice
              agent={agent}
              isChosen={agent.id === chosen}
              isPresent={agent.id === present}
              isOffered
            />
          ))}
          <label class="choice">
            <input
              type="radio"
              name="provider"
              value={OWN_PROVIDER}
              checked={chosen === OWN_PROVIDER}
              data-present={present === OWN_PROVIDER ? '' : undefined}
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
        <button type="button" class="quiet compact setup-again" data-find-agents>
          Look again
        </button>
      </fieldset>
      <fieldset class="setup-question stack" id="setup-where">
        <legend>Who starts the agent?</legend>
        <div class="choices">
          <Where value="spawned" title="Casefile does" isChosen={!inTerminal}>
            You press a button here, read the plan, and approve it.
          </Where>
          <Where value="terminal" title="I do, in my terminal" isChosen={inTerminal}>
            Casefile installs hooks for this folder: for the case that is current here, the agent
            can't change files before you approve its plan.
          </Where>
        </div>
      </fieldset>
      <InstalledHooks found={found} />
      <Proof found={found} />
      <Memory found={found} />
      <Signatures found={found} />
      <input
        type="hidden"
        id="setup-seen"
        data-etag={setupEtag(found.settings_sha256)}
        value={JSON.stringify(seenSettings(found))}
      />
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
  isPresent?: boolean
}

function AgentChoice({
  agent,
  isOffered = false,
  isChosen = false,
  isPresent = false,
}: AgentChoiceProps) {
  const { id, title, status, version, advice, can_hook } = agent
  const { text, tone } = STATUS[status]
  return (
    <div class="setup-agent row">
      <label class="choice">
        <input
          type="radio"
          name="provider"
          value={id}
          checked={isChosen}
          disabled={!isOffered}
          data-hooks={can_hook ? '' : undefined}
          data-present={isPresent ? '' : undefined}
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
  const present = !configured ? null : proofOf(checklist)
  const chosen = present ?? (tests === null ? 'none' : 'tests')
  const state = (value: typeof chosen) => ({
    checked: value === chosen,
    'data-present': value === present ? '' : undefined,
  })
  return (
    <fieldset class="setup-question stack" id="setup-proof">
      <legend>What shows that the work is right?</legend>
      <div class="choices">
        {present === 'own' && (
          <label class="choice">
            <input type="radio" name="proof" value="own" {...state('own')} />
            <span>
              <strong>Keep the present list</strong>
              <span class="hint">{visibleText(checklist.join('; '))}</span>
            </span>
          </label>
        )}
        <label class="choice">
          <input type="radio" name="proof" value="tests" {...state('tests')} />
          <span>
            <strong>All tests pass</strong>
            <span class="hint">Each new case asks for it before it can be resolved.</span>
          </span>
        </label>
        <label class="choice">
          <input type="radio" name="proof" value="none" {...state('none')} />
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

const MEMORY: Record<MemoryKind, { title: string; text: string }> = {
  'with-code': {
    title: 'With the code',
    text: 'They are committed and reviewed together with it.',
  },
  'own-repo': {
    title: 'In a separate repository',
    text: 'The code never has them. You add a remote to share them.',
  },
  'orphan-worktree': {
    title: 'On a separate branch',
    text: 'The branch casefile of this repository has no history in common with the code.',
  },
}

/** Asked only while it is undecided: a later change takes a few steps by hand. */
function Memory({ found: { memory_choices: choices } }: { found: SetupStatus }) {
  if (choices.length === 0) return null
  return (
    <fieldset class="setup-question stack" id="setup-memory">
      <legend>Where does git keep the cases?</legend>
      <div class="choices">
        {choices.map((kind) => (
          <label class="choice">
            <input type="radio" name="memory" value={kind} checked={kind === choices[0]} />
            <span>
              <strong>{MEMORY[kind].title}</strong>
              <span class="hint">{MEMORY[kind].text}</span>
            </span>
          </label>
        ))}
      </div>
    </fieldset>
  )
}

/** Not asked without a key: no approval would be possible. */
function Signatures({
  found: { sign_approvals: signs, signing_key: key },
}: {
  found: SetupStatus
}) {
  if (key === null && !signs) return null
  return (
    <fieldset class="setup-question stack" id="setup-signatures">
      <legend>Are approvals signed?</legend>
      <div class="choices">
        <label class="choice">
          <input type="checkbox" id="setup-sign" checked={signs} />
          <span>
            <strong>Ask for my signature at each approval</strong>
            <span class="hint">
              {key !== null && (
                <>With {visibleText(key)}, so that others can check who approved. </>
              )}
              You then approve in a terminal: <code>casefile approve --sign</code>
            </span>
          </span>
        </label>
      </div>
    </fieldset>
  )
}

/** What the form was made from, to show what somebody else changed. */
function seenSettings({ provider, configured, tests, checklist, sign_approvals }: SetupStatus) {
  return {
    provider: configured ? provider : null,
    tests: tests?.command ?? null,
    checklist,
    sign_approvals,
  }
}

/** Which choice says what the checklist says; `own` if none does. */
function proofOf(checklist: readonly string[]): 'none' | 'tests' | 'own' {
  if (checklist.length === 0) return 'none'
  return checklist.length === 1 && checklist[0] === ALL_TESTS_PASS ? 'tests' : 'own'
}
