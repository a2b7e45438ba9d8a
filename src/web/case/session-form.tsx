import { SESSION_TYPES, type SessionType, usualSessionType } from '../../model/case-state.ts'
import { MAX_INTENT } from '../../model/intent.ts'
import { OWN_PROVIDER } from '../../model/settings.ts'
import { visibleName } from '../../rendering/hidden-characters.ts'
import { CodeName } from '../../rendering/highlight/code-view.tsx'
import type { StartObjections } from '../../sessions/start-checks.ts'
import { sessionPage } from '../shell/addresses.ts'
import { FormActions, FormDisclosure } from '../shell/disclosure.tsx'
import { Field, InputField, TextField } from '../shell/field.tsx'
import { ProviderSelect } from '../shell/provider-select.tsx'
import type { CasePageData } from './data.ts'
import { lacksPlan, WaysToPlan } from './first-session.tsx'

/** What each type of session asks of the provider. Otherwise they differ only in the state that the case gets. */
const TASKS: Record<SessionType, { task: string; hint: string }> = {
  investigating: { task: 'Find the cause', hint: 'Explain what happens and why. Fix nothing yet.' },
  planning: { task: 'Plan the work', hint: 'Work out how to do what the case asks for.' },
  implementing: { task: 'Make the change', hint: 'Do what the case asks for, and prove it works.' },
  verifying: {
    task: 'Check the result',
    hint: 'Check that the code now does what the case asks for.',
  },
}

/** The smallest plan: setup/client.ts fills in what the case and the repository propose, approves it, and goes to its run. */
export function IntentForm({ data }: { data: CasePageData }) {
  const { id, objections, provider } = data
  const agents = data.providers.filter((choice) => choice.id !== OWN_PROVIDER)
  const hasAgent = agents.some((choice) => choice.id === provider && !choice.disabled)
  const list = (name: string, label: string, hint: string) => (
    <InputField id={`intent-${name}`} label={label} hint={hint} name={name} data-list="commas" />
  )
  return (
    <FormDisclosure
      id="new-intent"
      label="State an intent"
      data-send="POST"
      action={`/cases/${id}/sessions`}
      data-then={sessionPage(id, '{number}')}
      data-proposed={`/cases/${id}/status?intent=true`}
    >
      <InputField
        id="intent-text"
        label="What do you want done?"
        name="intent"
        required
        maxlength={MAX_INTENT}
      />
      <details class="show-more" id="intent-limits" open={!hasAgent}>
        <summary data-keep>Its limits</summary>
        {list('paths', 'May write to', 'Such as src/login/**, README.md')}
        {list('commands', 'May run', 'Such as npm run build; what only reads always may')}
        {list('proof', 'Proved by', 'Such as npm test; it may run, too')}
        <Field id="intent-provider" label="Who does it?">
          <ProviderSelect
            id="intent-provider"
            name="provider"
            choices={{ ...data, providers: agents }}
          />
        </Field>
      </details>
      <FormActions submit="Approve and run" primary disabled={objections.folder !== null} />
    </FormDisclosure>
  )
}

/** The form of a new session, behind a button. */
export function SessionForm({ data }: { data: CasePageData }) {
  const { id, json, objections } = data
  const usual = usualSessionType(json.type)
  const others = SESSION_TYPES.filter((type) => type !== usual)
  return (
    // not on the form, which a refresh leaves alone while it is open
    <div data-no-runbook={lacksPlan(data) ? '' : undefined}>
      <FormDisclosure
        id="new-session"
        label="New session"
        data-send="POST"
        action={`/cases/${id}/sessions`}
        data-then={sessionPage(id, '{number}')}
      >
        <fieldset class="choices">
          <legend>What should it do?</legend>
          <TypeChoice type={usual} checked />
          <details class="show-more">
            <summary>
              Something else: {others.map((type) => TASKS[type].task.toLowerCase()).join(', ')}
            </summary>
            {others.map((type) => (
              <TypeChoice type={type} />
            ))}
          </details>
        </fieldset>
        <Field id="session-provider" label="Who plans?">
          <ProviderSelect id="session-provider" name="provider" choices={data} />
        </Field>
        <Field id="session-isolation" label="Where does it work?">
          <select id="session-isolation" name="isolation" data-empty="omit">
            <option value="">{usualScope(data)}</option>
            <option value="worktree">In a separate git worktree, applied when you say so</option>
            <option value="none">In the working folder</option>
          </select>
        </Field>
        {lacksPlan(data) && (
          <div class="notice" data-tone="warn" id="nothing-to-plan" hidden>
            <p>There is nothing to plan with yet. Choose one of these:</p>
            <div class="actions">
              <WaysToPlan data={data} />
            </div>
          </div>
        )}
        <Untrusted objections={objections} />
        <TextField
          id="session-note"
          label="Instructions"
          hint="Optional: what you want from this session"
          name="note"
          rows={4}
          maxlength={20000}
          data-empty="omit"
        />
        <FormActions submit="Start planning" primary disabled={objections.folder !== null}>
          <span class="small muted">
            Planning starts now. Nothing runs until you approve the plan.
          </span>
        </FormActions>
      </FormDisclosure>
    </div>
  )
}

/** What applies if nothing is chosen. */
function usualScope({ json, isolation }: CasePageData): string {
  const from = json.isolation === null ? 'casefile.md' : 'the case'
  const place = (json.isolation ?? isolation) === 'worktree' ? 'a worktree' : 'the working folder'
  return `As ${from} says: in ${place}`
}

function TypeChoice({ type, checked = false }: { type: SessionType; checked?: boolean }) {
  const { task, hint } = TASKS[type]
  return (
    <label class="choice">
      <input type="radio" name="type" value={type} checked={checked} />
      <span>
        <strong>{task}</strong> <span class="small muted">{type}</span>
        <span class="hint">{hint}</span>
      </span>
    </label>
  )
}

const MAX_FILES = 10

/** What the operator has to trust first, and how. */
function Untrusted({ objections: { folder, files } }: { objections: StartObjections }) {
  if (folder !== null) {
    return (
      <p class="notice" data-tone="warn" id="untrusted-folder">
        {visibleName(folder)}
      </p>
    )
  }
  if (files.length === 0) return null
  return (
    <div class="notice" data-tone="warn" id="untrusted-files">
      <p>Some agents read these project files, so trust them first:</p>
      <ul>
        {files.slice(0, MAX_FILES).map(({ path, why, providers }) => (
          <li>
            <CodeName name={path} />: {why}; used by {providers.join(', ')}
          </li>
        ))}
        {files.length > MAX_FILES && <li>and {files.length - MAX_FILES} more</li>}
      </ul>
      <p>
        Read the files, then run <code>casefile doctor --trust</code> and reload this page. Or
        remove them.
      </p>
    </div>
  )
}
