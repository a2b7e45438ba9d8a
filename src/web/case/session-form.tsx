import { SESSION_TYPES, type SessionType } from '../../model/case-state.ts'
import { visibleText } from '../../rendering/hidden-characters.ts'
import type { StartObjections } from '../../sessions/objections.ts'
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

export function SessionForm({ view }: { view: CaseView }) {
  const { id, sessions, providers, provider, objections } = view
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
          <select id="session-provider" name="provider" required>
            {isBarred(view, provider) && <option value="">Choose one that can be used</option>}
            {providers.map(({ id, title, trusted }) => (
              <option
                value={id}
                selected={id === provider && !isBarred(view, id)}
                disabled={isBarred(view, id)}
              >
                {id === title.toLowerCase() ? title : `${id} (${title})`}
                {!trusted
                  ? ': not trusted yet, see casefile trust'
                  : isBarred(view, id)
                    ? ': acts on files that are not trusted'
                    : ''}
              </option>
            ))}
          </select>
        </Field>
        <Untrusted objections={objections} />
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
          <button type="submit" class="primary" disabled={objections.folder !== null}>
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

function isBarred({ providers, objections }: CaseView, provider: string): boolean {
  const isTrusted = providers.some(({ id, trusted }) => id === provider && trusted)
  return !isTrusted || objections.files.some((file) => file.providers.includes(provider))
}

/** What the operator would have to trust first, and how. */
function Untrusted({ objections: { folder, files } }: { objections: StartObjections }) {
  if (folder !== null) {
    return (
      <p class="notice" data-kind="warn" id="untrusted-folder">
        {visibleText(folder)}
      </p>
    )
  }
  if (files.length === 0) return null
  return (
    <div class="notice" data-kind="warn" id="untrusted-files">
      <p>Some agents act on these files of the project, so they need your trust first:</p>
      <ul>
        {files.slice(0, MOST_FILES).map(({ path, why, providers }) => (
          <li>
            <code>{visibleText(path)}</code>: {why}; used by {providers.join(', ')}
          </li>
        ))}
        {files.length > MOST_FILES && <li>and {files.length - MOST_FILES} more</li>}
      </ul>
      <p>
        Read the files, then run <code>casefile trust</code> and reload this page. Or remove them.
      </p>
    </div>
  )
}

const MOST_FILES = 10

const keys = Object.keys(AIMS)

/** What mostly comes next. */
function usualType([last]: readonly SessionType[]): SessionType {
  if (last === undefined) return 'investigating'
  return last === 'implementing' || last === 'verifying' ? 'verifying' : 'implementing'
}
