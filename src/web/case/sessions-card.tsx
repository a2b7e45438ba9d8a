import { counted } from '../../model/amounts.ts'
import type { Session } from '../../model/session.ts'
import { durationsText, sessionDurations } from '../../model/session-durations.ts'
import { failureText } from '../../model/session-failure.ts'
import { sessionUsage, usageText, usageTotal } from '../../model/usage.ts'
import { sessionPage } from '../shell/addresses.ts'
import { StateBadge } from '../shell/badges.tsx'
import { Time } from '../shell/time.tsx'
import type { CaseView } from './case-view.ts'
import { FoldRest } from './fold-rest.tsx'
import { SessionForm } from './session-form.tsx'

const MOST_SESSIONS = 15

/** The sessions, newest first. */
export function SessionsCard({ view }: { view: CaseView }) {
  const { id, sessions } = view
  const runs = sessions.flatMap(({ trail }) => sessionUsage(trail))
  const used = usageText(usageTotal(runs))
  return (
    <section class="card" id="sessions" aria-labelledby="sessions-title">
      <header>
        <h2 id="sessions-title">
          Sessions <span class="count">{sessions.length}</span>
        </h2>
        <SessionForm view={view} />
      </header>
      {sessions.length === 0 ? (
        <p class="muted">
          None yet. A session plans first, and does nothing before you have approved its plan.
        </p>
      ) : (
        <FoldRest
          id="more-sessions"
          items={sessions}
          most={MOST_SESSIONS}
          label={`All ${sessions.length} sessions`}
          list={(some, start) => (
            <ol class="row-list" reversed start={sessions.length - start}>
              {some.map((session) => (
                <SessionRow id={id} session={session} />
              ))}
            </ol>
          )}
        />
      )}
      {used !== '' && (
        <p class="muted small" id="case-usage">
          Used by agents in all sessions: {used}
        </p>
      )}
    </section>
  )
}

function SessionRow({ id, session }: { id: string; session: Session }) {
  const { number, type, state, provider, started_at, completed_at, diff, tests, trail } = session
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
        {state === 'plan_ready' && <strong class="warn-text">waits for your approval</strong>}
      </div>
      <p class="facts">
        <span>{provider}</span>
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
          {completed_at ? 'ended ' : 'begun '}
          <Time at={completed_at ?? started_at} />
        </span>
      </p>
    </li>
  )
}
