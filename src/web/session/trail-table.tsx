import { counted } from '../../model/amounts.ts'
import { eventLine } from '../../model/event-lookup.ts'
import type { FileLine } from '../../model/trail.ts'
import { linesOfEvents } from '../../model/trail-lines.ts'
import { visibleText } from '../../rendering/hidden-characters.ts'
import { sessionPage } from '../shell/addresses.ts'
import { TextBox } from '../shell/text-box.tsx'
import { Time } from '../shell/time.tsx'
import type { SessionPageData } from './data.ts'

const NEWEST = 200
const PAGE = 500
const MAX_INLINE = 160
const MAX_VALUE = 16_384

/** The audit trail of the session: its newest entries, or a page of it. */
export function TrailTable({ data }: { data: SessionPageData }) {
  const { session, query } = data
  const trail = linesOfEvents(session.trail)
  const last = Math.max(1, Math.ceil(trail.length / PAGE))
  const page = query.trailPage === null ? null : Math.min(query.trailPage, last)
  const lines = page === null ? trail.slice(-NEWEST) : trail.slice((page - 1) * PAGE, page * PAGE)
  return (
    <details class="card folding trail" id="trail" open={page !== null}>
      <summary>
        <h2>Audit trail</h2>
        <span class="muted small">{counted(trail.length, 'entry', 'entries')}</span>
      </summary>
      {lines.length < trail.length && (
        <TrailPages
          base={sessionPage(session.case_id, session.number)}
          page={page}
          last={last}
          shown={`Entries ${trail.indexOf(lines[0]!) + 1} to ${trail.indexOf(lines.at(-1)!) + 1} of ${trail.length}`}
        />
      )}
      <section class="table-scroll" tabindex={0} aria-label="Audit trail">
        <table>
          <thead>
            <tr>
              <th scope="col">#</th>
              <th scope="col">Time</th>
              <th scope="col">Event</th>
              <th scope="col">Details</th>
            </tr>
          </thead>
          <tbody>
            {lines.map((line) => (
              <TrailRow line={line} />
            ))}
          </tbody>
        </table>
      </section>
    </details>
  )
}

interface TrailPagesProps {
  base: string
  /** Null for the newest entries. */
  page: number | null
  last: number
  shown: string
}

function TrailPages({ base, page, last, shown }: TrailPagesProps) {
  const address = (to: number) => `${base}?trail=${to}#trail`
  return (
    <nav class="facts" aria-label="Pages of the audit trail">
      <span>{shown}</span>
      {page === null && <a href={address(1)}>Oldest first</a>}
      {page !== null && page > 1 && <a href={address(page - 1)}>Previous</a>}
      {page !== null && page < last && <a href={address(page + 1)}>Next</a>}
      {page !== null && <a href={`${base}#trail`}>Newest</a>}
    </nav>
  )
}

function TrailRow({ line }: { line: FileLine }) {
  const { number, time, event } = line
  const sentence = sentenceOf(line)
  const fields = Object.entries(line.fields).filter(
    ([name]) => sentence === null || !SAID.includes(name),
  )
  return (
    <tr id={`trail-${number}`} class={toneOf(line)}>
      <td class="line-number">{number}</td>
      <td class="when">
        <Time at={time} ago={false} />
      </td>
      <td class="event">{visibleText(event.replaceAll('_', ' '))}</td>
      <td>
        {sentence !== null && <p>{sentence}</p>}
        <dl class="fields row">
          {fields.map(([name, value]) => (
            <Field name={name} value={value} />
          ))}
        </dl>
      </td>
    </tr>
  )
}

/** The fields that the sentence about a tool call says. */
const SAID = ['tool', 'kind', 'title', 'status']

/** What a tool call did, as a sentence; null for other entries, whose fields speak for themselves. */
function sentenceOf({ event, fields }: FileLine): string | null {
  return event === 'tool_call' ? (eventLine(event, fields)?.text ?? null) : null
}

/** Only what an operator must not overlook has a colour. */
function toneOf({ event, fields }: FileLine): 'bad' | 'warn' | undefined {
  const { state } = fields
  const line =
    typeof state === 'string'
      ? eventLine('session_state_changed', { new_state: state })
      : eventLine(event, fields)
  const tone = line?.tone
  return tone === 'bad' || tone === 'warn' ? tone : undefined
}

function Field({ name, value }: { name: string; value: unknown }) {
  const fullText = textOf(value)
  const text = visibleText(fullText.slice(0, MAX_VALUE).toWellFormed())
  const isLong = text.length > MAX_INLINE || text.includes('\n')
  return (
    <div>
      <dt>{visibleText(name)}</dt>
      <dd>
        {isLong ? (
          <details>
            <summary>{text.trim().split('\n')[0]!.slice(0, 80)} …</summary>
            <TextBox label={name} class="plain-text">
              {text}
            </TextBox>
            {fullText.length > MAX_VALUE && <p class="muted">The rest is in the session file.</p>}
          </details>
        ) : (
          text
        )}
      </dd>
    </div>
  )
}

/** A list of names on one line; anything else that is no text as JSON. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  const isList = Array.isArray(value) && value.every((each) => typeof each === 'string')
  return isList ? value.join(', ') : JSON.stringify(value, null, 1)
}
