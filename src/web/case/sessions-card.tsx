import { counted } from '../../model/amounts.ts'
import { SESSION_TYPES, type SessionType } from '../../model/case-state.ts'
import { providerText, type Session } from '../../model/session.ts'
import { durationsText, sessionDurations } from '../../model/session-durations.ts'
import { failureText } from '../../model/session-failure.ts'
import { sessionUsage } from '../../model/session-usage.ts'
import { usageText, usageTotal } from '../../model/usage.ts'
import { visibleText } from '../../rendering/hidden-characters.ts'
import type { StartObjections } from '../../sessions/start-checks.ts'
import { sessionPage } from '../shell/addresses.ts'
import { StateBadge } from '../shell/badges.tsx'
import { FormActions, FormDisclosure, ShowMore } from '../shell/disclosure.tsx'
import { Field } from '../shell/field.tsx'
import { Time } from '../shell/time.tsx'
import type { CasePageData } from './case-data.ts'

const MAX_SESSIONS = 15

/** The sessions, newest first, and the form of a new one. */
export function SessionsCard({ data }: { data: CasePageData }) {
  const { id, sessions } = data
  const runs = sessions.flatMap(({ trail }) => sessionUsage(trail))
  const used = usageText(usageTotal(runs))
  return (
    <section class="card" id="sessions" aria-labelledby="sessions-title">
      <header>
        <h2 id="sessions-title">
          Sessions <span class="count">{sessions.length}</span>
        </h2>
        <SessionForm data={data} />
      </header>
      {sessions.length === 0 ? (
        <p class="muted">
          None yet. A session writes a plan first. Nothing runs until you approve it.
        </p>
      ) : (
        <ShowMore
          id="more-sessions"
          items={sessions}
          limit={MAX_SESSIONS}
          label={`All ${sessions.length} sessions`}
          list={(some, start) => (
            <ol class="row-list" reversed start={sessions.length - start}>
              {some.map((session) => (
                <SessionItem id={id} session={session} />
              ))}
            </ol>
          )}
        />
      )}
      {used !== '' && (
        <p class="muted small" id="case-usage">
          Agent usage in all sessions: {used}
        </p>
      )}
    </section>
  )
}

function SessionItem({ id, session }: { id: string; session: Session }) {
  const { number, type, state, started_at, completed_at, diff, tests, trail } = session
  const durations = durationsText(sessionDurations(trail))
  const hasChanges =
    diff !== null && diff.additions + diff.deletions + (diff.files?.length ?? 0) > 0
  return (
    <li id={`session-${number}`}>
      <div class="row-main">
        <a href={sessionPage(id, number)} data-row>
          {number}. {type}
        </a>
        <StateBadge state={state} />
        {state === 'failed' && <span class="bad-text">{failureText(session)}</span>}
      </div>
      <p class="facts">
        <span>{providerText(session)}</span>
        {tests && state !== 'failed' && (
          <span class={tests.failed > 0 ? 'bad-text' : 'good-text'}>
            {tests.failed > 0
              ? `${tests.failed} of ${counted(tests.run, 'test')} failed`
              : `${counted(tests.passed, 'test')} passed`}
          </span>
        )}
        {diff && !hasChanges && <span>no changes</span>}
        {diff && hasChanges && (
          <span>
            {diff.files ? counted(diff.files.length, 'file') : <code>{diff.file}</code>}{' '}
            <span class="good-text">+{diff.additions}</span>{' '}
            <span class="bad-text">−{diff.deletions}</span>
          </span>
        )}
        {durations !== '' && <span>{durations}</span>}
        <span>
          {completed_at ? 'ended ' : 'started '}
          <Time at={completed_at ?? started_at} />
        </span>
      </p>
    </li>
  )
}

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

function SessionForm({ data }: { data: CasePageData }) {
  const { id, sessions, providers, provider, objections } = data
  const likely = likelyType(sessions[0]?.type)
  return (
    <FormDisclosure id="new-session" label="New session" shortcut="s" isSmall>
      <form
        class="form"
        id="new-session-form"
        data-send="POST"
        action={`/cases/${id}/sessions`}
        data-then={sessionPage(id, '{number}')}
      >
        <fieldset class="choices">
          <legend>What should it do?</legend>
          <TypeChoice type={likely} checked />
          <details class="show-more">
            <summary>Something else</summary>
            {SESSION_TYPES.filter((type) => type !== likely).map((type) => (
              <TypeChoice type={type} />
            ))}
          </details>
        </fieldset>
        <Field id="session-provider" label="Provider">
          <select id="session-provider" name="provider" required>
            {isBarred(data, provider) && <option value="">Choose a provider</option>}
            {providers.map(({ id, title, trusted }) => (
              <option
                value={id}
                selected={id === provider && !isBarred(data, id)}
                disabled={isBarred(data, id)}
              >
                {id === title.toLowerCase() ? title : `${id} (${title})`}
                {!trusted
                  ? ': not trusted yet, see casefile trust'
                  : isBarred(data, id)
                    ? ': uses files that are not trusted'
                    : ''}
              </option>
            ))}
          </select>
        </Field>
        <Untrusted objections={objections} />
        <Field
          id="session-note"
          label="Instructions"
          hint="Optional: what you want from this session"
        >
          <textarea
            id="session-note"
            aria-describedby="session-note-hint"
            name="note"
            rows={4}
            maxlength={20000}
            data-empty="omit"
          />
        </Field>
        <FormActions submit="Start planning" primary disabled={objections.folder !== null}>
          <span class="small muted">
            Planning starts now. Nothing runs until you approve the plan.
          </span>
        </FormActions>
      </form>
    </FormDisclosure>
  )
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

/** What usually comes next. */
function likelyType(last: SessionType | undefined): SessionType {
  if (last === undefined) return 'investigating'
  return last === 'implementing' || last === 'verifying' ? 'verifying' : 'implementing'
}

function isBarred({ providers, objections }: CasePageData, provider: string): boolean {
  const isTrusted = providers.some(({ id, trusted }) => id === provider && trusted)
  return !isTrusted || objections.files.some((file) => file.providers.includes(provider))
}

const MAX_FILES = 10

/** What the operator has to trust first, and how. */
function Untrusted({ objections: { folder, files } }: { objections: StartObjections }) {
  if (folder !== null) {
    return (
      <p class="notice" data-tone="warn" id="untrusted-folder">
        {visibleText(folder)}
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
            <code>{visibleText(path)}</code>: {why}; used by {providers.join(', ')}
          </li>
        ))}
        {files.length > MAX_FILES && <li>and {files.length - MAX_FILES} more</li>}
      </ul>
      <p>
        Read the files, then run <code>casefile trust</code> and reload this page. Or remove them.
      </p>
    </div>
  )
}
