import { SESSION_TYPES, type SessionType } from '../../model/case-state.ts'
import { sessionPage } from '../shell/addresses.ts'
import { Field } from '../shell/field.tsx'
import type { CaseView } from './case-view.ts'

/** What each type asks of the provider; they differ in nothing else but the state that the case gets. */
const AIMS: Record<SessionType, string> = {
  investigating: 'Find the cause of what the case describes; nothing is to be repaired yet.',
  planning: 'Plan the work that the case asks for.',
  implementing: 'Make the change that the case asks for, and prove it.',
  verifying: 'Check that what the case asks for is true of the code as it is now.',
}

export function SessionForm({ view: { id, sessions, providers, provider } }: { view: CaseView }) {
  const usual = usualType(sessions.map(({ type }) => type))
  const types = [...SESSION_TYPES].sort((a, b) => keys.indexOf(a) - keys.indexOf(b))
  return (
    <details class="fold needs-script" id="new-session" data-close>
      <summary class="button compact" data-key="s">
        New session
      </summary>
      <form
        class="form"
        id="new-session-form"
        data-send="POST"
        action={`/cases/${id}/sessions`}
        data-then={sessionPage(id, '{number}')}
      >
        <fieldset class="choices">
          <legend>Type</legend>
          {types.map((type) => (
            <label class="choice">
              <input type="radio" name="type" value={type} checked={type === usual} />
              <span>
                <strong>{type}</strong>
                <span class="hint">{AIMS[type]}</span>
              </span>
            </label>
          ))}
        </fieldset>
        <Field id="session-provider" label="Provider">
          <select id="session-provider" name="provider">
            {providers.map(({ id, title, trusted }) => (
              <option value={id} selected={id === provider} disabled={!trusted}>
                {id === title.toLowerCase() ? title : `${id} (${title})`}
                {trusted ? '' : ': not trusted yet, see casefile trust'}
              </option>
            ))}
          </select>
        </Field>
        <Field id="session-note" label="Note" hint="Optional: what you ask for in this session">
          <textarea
            id="session-note"
            aria-describedby="session-note-hint"
            name="note"
            rows={4}
            maxlength={20000}
            data-empty="omit"
          />
        </Field>
        <div class="actions">
          <button type="submit" class="primary">
            Plan it
          </button>
          <button type="reset" class="quiet" data-fold>
            Cancel
          </button>
          <span class="small muted">It plans at once, and then waits for your approval.</span>
        </div>
      </form>
    </details>
  )
}

const keys = Object.keys(AIMS)

/** What mostly comes next. */
function usualType([last]: readonly SessionType[]): SessionType {
  if (last === undefined) return 'investigating'
  return last === 'implementing' || last === 'verifying' ? 'verifying' : 'implementing'
}
