import { counted } from '../../model/amounts.ts'
import { HISTORY_FILE } from '../../model/history.ts'
import { sessionUsage } from '../../model/session-usage.ts'
import { usageText, usageTotal } from '../../model/usage.ts'
import { memoryPage } from '../shell/addresses.ts'
import type { CasePageData } from './data.ts'
import { lacksPlan } from './first-session.tsx'
import { IntentForm, SessionForm } from './session-form.tsx'
import { foldTimeline, isSession, type TimelineItem, timelineItems } from './timeline.ts'
import { CommentForm, PendingQuestion, TimelineEntry } from './timeline-item.tsx'
import { TimelineSession } from './timeline-session.tsx'

/** What happened to the case, oldest first, as its history.md has it, and the forms of a comment and a new session. */
export function TimelineCard({ data }: { data: CasePageData }) {
  const { id, history, sessions, proofs, files, json, broken } = data
  const items = timelineItems({ history, sessions: [...sessions].reverse(), proofs })
  const { first, folded, left, last } = foldTimeline(items)
  const isAsked = json.state === 'NEEDS_USER_INPUT' && !broken
  const question = isAsked
    ? items.findLast((item) => !isSession(item) && item.entry.kind === 'question')
    : undefined
  const list = (some: readonly TimelineItem[]) => (
    <ol class="timeline">
      {some.map((item) =>
        isSession(item) ? (
          <TimelineSession data={data} item={item} />
        ) : (
          <TimelineEntry data={data} item={item} isOpen={item === question} />
        ),
      )}
    </ol>
  )
  const isWritten = files.some(({ filename }) => filename === HISTORY_FILE)
  const used = usageText(usageTotal(sessions.flatMap(({ trail }) => sessionUsage(trail))))
  return (
    <section class="history" id="history" aria-labelledby="history-title">
      {/* not on the form, which a refresh leaves alone while it is open */}
      <header class="history-head" data-no-runbook={lacksPlan(data) ? '' : undefined}>
        <h2 id="history-title">History</h2>
        {isWritten && (
          <a class="small" href={memoryPage(id, HISTORY_FILE)}>
            {HISTORY_FILE}
          </a>
        )}
        <IntentForm data={data} />
        <SessionForm data={data} />
      </header>
      {items.length === 0 && <p class="muted">Nothing yet.</p>}
      {list(first)}
      {folded.length > 0 && (
        <details class="timeline-fold" id="more-history">
          <summary>Show {counted(folded.length, 'more entry', 'more entries')}</summary>
          {left > 0 && (
            <p class="muted small">
              {counted(left, 'entry is', 'entries are')} in{' '}
              <a href={memoryPage(id, HISTORY_FILE)}>{HISTORY_FILE}</a> only.
            </p>
          )}
          {list(folded)}
        </details>
      )}
      {list(last)}
      {isAsked && !question && <PendingQuestion data={data} />}
      {sessions.length === 0 && (
        <p class="muted timeline-end">
          No session yet. A session writes a plan first. Nothing runs until you approve it.
        </p>
      )}
      <CommentForm data={data} />
      {used !== '' && (
        <p class="muted small timeline-end" id="case-usage">
          Agent usage in all sessions: {used}
        </p>
      )}
    </section>
  )
}
