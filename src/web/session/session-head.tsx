import { durationsText } from '../../model/session-durations.ts'
import { lastOf, type TrailLine } from '../../model/trail.ts'
import { visibleText } from '../../rendering/hidden-characters.ts'
import { CASES, casePage, memoryPage, sessionPage } from '../shell/addresses.ts'
import { StateBadge } from '../shell/badges.tsx'
import { Time } from '../shell/time.tsx'
import { mayPlanAgain, PlanAgain } from './plan-again.tsx'
import type { SessionView } from './session-view.ts'

/** Which session this is, how it stands, and whose turn it is. */
export function SessionHead({ view }: { view: SessionView }) {
  const { folder, session, turn } = view
  const { id, title } = folder.case
  const { number, state, started_at } = session
  const durations = durationsText(view.json.durations)
  const hasOutput = view.output.length > 0 || view.json.output !== ''
  const guarded = lastOf(session.trail, 'guarded')
  const warning = lastOf(session.trail, 'agent_started')?.fields.warning
  const others = folder.sessions.filter((each) => Math.abs(each.number - number) === 1)
  return (
    <header class="session-head" id="session-head" data-session={session.id}>
      <nav class="crumbs" aria-label="Where this is">
        <a href={CASES}>Cases</a> / <a href={casePage(id)}>{title}</a> / Session {number}
      </nav>
      <div class="session-title">
        <h1>
          Session {number} · {session.type}
        </h1>
        <StateBadge state={state} />
      </div>
      <div class="facts">
        <span>
          Provider <strong>{session.provider}</strong>
        </span>
        <span>
          Started <Time at={started_at} />
        </span>
        {durations !== '' && <span>{durations[0]!.toUpperCase() + durations.slice(1)}</span>}
        {guarded && <span>{guardText(guarded)}</span>}
        <a href={memoryPage(id, `${number}.md`)}>Its file</a>
        {others.map((other) => (
          <a href={sessionPage(id, other.number)}>
            {other.number < number ? '← ' : ''}Session {other.number}
            {other.number > number ? ' →' : ''}
          </a>
        ))}
      </div>
      {typeof warning === 'string' && (
        <p class="notice" data-kind="warn" id="agent-warning">
          {visibleText(warning)}
        </p>
      )}
      <div
        id="turn"
        class="notice turn"
        data-kind={turn.tone}
        data-who={turn.who}
        role={turn.tone === 'bad' ? 'alert' : undefined}
      >
        <p>
          <strong>{turn.text}</strong> <span class="turn-more">{turn.more}</span>
        </p>
        {session.state === 'plan_ready' && turn.tone !== 'bad' && (
          <a
            class="button needs-script"
            id="to-approve"
            href="#approve"
            data-key="a"
            data-key-name="Go to Approve"
          >
            Go to Approve
          </a>
        )}
        {mayPlanAgain(view) && (
          <div class="actions">
            <PlanAgain session={session} objection={view.planObjection} />
            {hasOutput && (
              <a class="button" href="#output">
                Show the output
              </a>
            )}
          </div>
        )}
      </div>
    </header>
  )
}

/** In words what kept the programs of the run from the records. */
function guardText({ fields }: TrailLine): string {
  const reason = typeof fields.reason === 'string' ? ` (${fields.reason})` : ''
  if (fields.guard === 'mount') return 'Guarded by read-only mounts'
  return `Guarded by comparison before and after${reason}`
}
