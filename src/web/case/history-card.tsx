import { HISTORY_FILE, type HistoryEntry, stateChange } from '../../model/history.ts'
import { visibleProse, visibleText } from '../../rendering/hidden-characters.ts'
import { memoryPage, sessionPage } from '../shell/addresses.ts'
import { StateBadge } from '../shell/badges.tsx'
import { Time } from '../shell/time.tsx'
import type { CaseView } from './case-view.ts'
import { FoldRest } from './fold-rest.tsx'

const MOST_ENTRIES = 15
/** The rest of a longer text opens with a click. */
const MOST_CHARACTERS = 600

/** What happened to the case, newest first: who, what, when and why. */
export function HistoryCard({ view: { id, history, files } }: { view: CaseView }) {
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
      <FoldRest
        id="more-history"
        items={entries}
        most={MOST_ENTRIES}
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
      {kind === 'note' && <Said text={entry.what} />}
      {text !== null && <Said text={text} />}
    </li>
  )
}

function What({ id, entry: { what, session } }: { id: string; entry: HistoryEntry }) {
  const change = stateChange(what)
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

function Said({ text }: { text: string }) {
  const shown = visibleProse(text)
  if (shown.length <= MOST_CHARACTERS + 80) {
    return (
      <p class="timeline-text" dir="auto">
        {shown}
      </p>
    )
  }
  return (
    <details class="timeline-text">
      <summary dir="auto">{shown.slice(0, MOST_CHARACTERS).toWellFormed()} …</summary>
      <p dir="auto">{shown}</p>
    </details>
  )
}
