import { HISTORY_FILE, type HistoryEntry, parseStateChange } from '../../model/history.ts'
import { visibleText } from '../../rendering/hidden-characters.ts'
import { memoryPage, sessionPage } from '../shell/addresses.ts'
import { StateBadge } from '../shell/badges.tsx'
import { LongText, ShowMore } from '../shell/disclosure.tsx'
import { Time } from '../shell/time.tsx'
import type { CasePageData } from './case-data.ts'

const MAX_ENTRIES = 15

/** What happened to the case, newest first: who, what, when and why. */
export function HistoryCard({ data: { id, history, files } }: { data: CasePageData }) {
  const entries = [...history].reverse()
  const isWritten = files.some(({ filename }) => filename === HISTORY_FILE)
  return (
    <section class="card" id="history" aria-labelledby="history-title">
      <header>
        <h2 id="history-title">History</h2>
        {isWritten && (
          <a class="small" href={memoryPage(id, HISTORY_FILE)}>
            {HISTORY_FILE}
          </a>
        )}
      </header>
      <ShowMore
        id="more-history"
        items={entries}
        limit={MAX_ENTRIES}
        label={`All ${entries.length} entries`}
        list={(some, start) => (
          <ol class="timeline" reversed start={entries.length - start}>
            {some.map((entry) => (
              <Entry id={id} entry={entry} />
            ))}
          </ol>
        )}
      />
    </section>
  )
}

function Entry({ id, entry }: { id: string; entry: HistoryEntry }) {
  const { at, who, text, kind } = entry
  return (
    <li data-kind={kind}>
      <p class="timeline-what">
        {who !== null && <strong dir="auto">{visibleText(who)}</strong>}{' '}
        {kind === 'note' ? <span class="tag">note</span> : <What id={id} entry={entry} />}{' '}
        {at !== null && (
          <span class="small muted">
            <Time at={at} />
          </span>
        )}
      </p>
      {kind === 'note' && <LongText text={entry.what} class="timeline-text" />}
      {text !== null && <LongText text={text} class="timeline-text" />}
    </li>
  )
}

function What({ id, entry: { what, session } }: { id: string; entry: HistoryEntry }) {
  const change = parseStateChange(what)
  if (change) {
    const { from, to } = change
    const more = what.slice(`${from} → ${to}`.length)
    return (
      <span>
        <StateBadge state={from} /> → <StateBadge state={to} />
        {visibleText(more)}
      </span>
    )
  }
  if (session === null) return <span>{visibleText(what)}</span>
  const name = `session ${session}`
  const [before = '', ...after] = what.split(name)
  return (
    <span>
      {visibleText(before)}
      <a href={sessionPage(id, session)}>{name}</a>
      {visibleText(after.join(name))}
    </span>
  )
}
