import { counted } from '../../model/amounts.ts'
import { HISTORY_FILE } from '../../model/history.ts'
import { sessionUsage } from '../../model/session-usage.ts'
import { usageText, usageTotal } from '../../model/usage.ts'
import { casePage, memoryPage } from '../shell/addresses.ts'
import { Tabs } from '../shell/tabs.tsx'
import type { CasePageData } from './data.ts'
import { lacksPlan } from './first-session.tsx'
import { IntentForm, SessionForm } from './session-form.tsx'
import {
  filterTimeline,
  foldTimeline,
  TIMELINE_FILTERS,
  type TimelineFilter,
  type TimelineItem,
  timelineItems,
} from './timeline.ts'
import { TimelineIcons } from './timeline-icons.tsx'
import { PendingQuestion, TimelineEntry } from './timeline-item.tsx'

/** A shorter timeline needs no filter. */
const MIN_FILTERED = 12

interface TimelineCardProps {
  data: CasePageData
  filter: TimelineFilter | null
}

/** What happened to the case, oldest first, as its history.md has it, and the form of a new session. */
export function TimelineCard({ data, filter }: TimelineCardProps) {
  const { id, history, sessions, proofs, files, json, broken } = data
  const all = timelineItems({ history, sessions: [...sessions].reverse(), proofs })
  const items = filterTimeline(all, filter)
  const { first, folded, left, last } = foldTimeline(items)
  const isAsked = json.state === 'NEEDS_USER_INPUT' && !broken
  const question = isAsked ? items.findLast(({ entry }) => entry.kind === 'question') : undefined
  const list = (some: readonly TimelineItem[]) => (
    <ol class="timeline">
      {some.map((item) => (
        <TimelineEntry data={data} item={item} isOpen={item === question} />
      ))}
    </ol>
  )
  const isWritten = files.some(({ filename }) => filename === HISTORY_FILE)
  const used = usageText(usageTotal(sessions.flatMap(({ trail }) => sessionUsage(trail))))
  return (
    <section class="history" id="history" aria-labelledby="history-title">
      <TimelineIcons />
      {/* not on the form, which a refresh leaves alone while it is open */}
      <header class="card history-head" data-no-runbook={lacksPlan(data) ? '' : undefined}>
        <h2 id="history-title">
          History <span class="count">{all.length}</span>
        </h2>
        {all.length > MIN_FILTERED && <Filters id={id} filter={filter} />}
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
          <summary>
            <span class="timeline-fold-text">
              Show {counted(folded.length, 'more entry', 'more entries')}
            </span>
          </summary>
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
      {used !== '' && (
        <p class="muted small timeline-end" id="case-usage">
          Agent usage in all sessions: {used}
        </p>
      )}
    </section>
  )
}

function Filters({ id, filter }: { id: string; filter: TimelineFilter | null }) {
  const names = Object.keys(TIMELINE_FILTERS) as TimelineFilter[]
  return (
    <Tabs
      label="Entries of the history"
      tabs={[
        { label: 'All', href: `${casePage(id)}#history`, isCurrent: filter === null },
        ...names.map((name) => ({
          label: TIMELINE_FILTERS[name].label,
          href: `${casePage(id)}?history=${name}#history`,
          isCurrent: filter === name,
        })),
      ]}
    />
  )
}
