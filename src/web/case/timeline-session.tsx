import { testsText } from '../../model/amounts.ts'
import { providerText, type Session } from '../../model/session.ts'
import { durationsText, sessionDurations, stepsTime } from '../../model/session-durations.ts'
import { failureText } from '../../model/session-failure.ts'
import { IN_LINE, stateLabel } from '../../model/state-groups.ts'
import { sessionPage } from '../shell/addresses.ts'
import { Isolated } from '../shell/isolated.tsx'
import { Time } from '../shell/time.tsx'
import type { CasePageData } from './data.ts'
import type { SessionItem } from './timeline.ts'
import { TimelineEntry } from './timeline-item.tsx'

/** A session: its result in one line; unfolded, its acts with their authors. */
export function TimelineSession({ data, item }: { data: CasePageData; item: SessionItem }) {
  const { number, session, acts } = item
  const approved = acts.findLast(({ entry }) => entry.act?.name === 'plan_approved')?.entry
  const { at } = acts[0]!.entry
  return (
    <li data-kind="session">
      <details id={`session-${number}`}>
        <summary class="timeline-what">
          <strong>Session {number}</strong>
          <span class="facts">
            {session && <SessionFacts session={session} data={data} />}
            {approved?.who && (
              <span>
                approved by <Isolated text={approved.who} isName />
              </span>
            )}
          </span>
        </summary>
        <ol class="timeline">
          {acts.map((act) => (
            <TimelineEntry data={data} item={act} />
          ))}
        </ol>
        {session && <p class="muted small">{timesText(session)}</p>}
      </details>
      <span class="timeline-time">
        {session && (
          <a href={sessionPage(data.id, number)} data-row>
            Open<span class="visually-hidden"> session {number}</span>
          </a>
        )}{' '}
        {at !== null && <Time at={at} />}
      </span>
    </li>
  )
}

function timesText(session: Session): string {
  const times = durationsText({ ...sessionDurations(session.trail), steps_ms: stepsTime(session) })
  return [times, session.type].filter((text) => text !== '').join(' · ')
}

interface SessionFactsProps {
  session: Session
  data: CasePageData
}

function SessionFacts({ session, data }: SessionFactsProps) {
  const { number, state, diff, tests } = session
  const isInLine = data.inLine?.number === number
  return (
    <>
      <span>{providerText(session)}</span>
      {state === 'failed' ? (
        <span class="bad-text">{failureText(session)}</span>
      ) : tests ? (
        <span class={tests.failed > 0 ? 'bad-text' : 'good-text'}>{testsText(tests)}</span>
      ) : (
        <span class={TONES[state]}>{isInLine ? IN_LINE : stateLabel(state)}</span>
      )}
      {diff && <DiffCounts diff={diff} />}
    </>
  )
}

const TONES: Partial<Record<Session['state'], string>> = {
  plan_ready: 'warn-text',
  complete: 'good-text',
}

function DiffCounts({ diff }: { diff: NonNullable<Session['diff']> }) {
  const { files, additions, deletions } = diff
  if (additions + deletions + (files?.length ?? 0) === 0) return null
  return (
    <span>
      <span class="good-text">+{additions}</span> <span class="bad-text">−{deletions}</span>
    </span>
  )
}
