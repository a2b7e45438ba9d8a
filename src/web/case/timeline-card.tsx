import { counted } from '../../model/amounts.ts'
import { HISTORY_FILE } from '../../model/history.ts'
import { sessionUsage } from '../../model/session-usage.ts'
import { usageText, usageTotal } from '../../model/usage.ts'
import { memoryPage } from '../shell/addresses.ts'
import type { CasePageData } from './data.ts'
import { foldTimeline, isSession, type TimelineItem, timelineItems } from './timeline.ts'
import { CommentForm, PendingQuestion, TimelineEntry } from './timeline-item.tsx'
import { TimelineSession } from './timeline-session.tsx'

/** What happened to the case, oldest first, as its history.md has it, and the form of a comment. */
export function TimelineCard({ data }: { data: CasePageData }) {
  const { id, history, sessions, proofs, json, broken } = data
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
  const used = usageText(usageTotal(sessions.flatMap(({ trail }) => sessionUsage(trail))))
  return (
    <section class="history" id="history" aria-labelledby="history-title">
      <h2 id="history-title">History</h2>
      {items.length === 0 && <p class="muted">Nothing yet.</p>}
      {list(first)}
      {folded.length > 0 && (
        <details class="timeline-fold show-more" id="more-history">
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
      <CommentForm data={data} />
      {used !== '' && (
        <p class="muted small timeline-end" id="case-usage">
          Agent usage in all sessions: {used}
        </p>
      )}
    </section>
  )
}
