import { counted } from '../../model/amounts.ts'
import type { TrailLine } from '../../model/trail.ts'
import { visibleText } from '../../rendering/hidden-characters.ts'
import { sessionPage } from '../shell/addresses.ts'
import { Time } from '../shell/time.tsx'
import type { SessionView } from './session-view.ts'

const NEWEST = 200
const PAGE = 500
const MAX_INLINE = 160
const MAX_VALUE = 16_384

/** What an operator must not overlook among the rest. */
const STRIKING: Record<string, 'bad' | 'warn'> = {
  denied: 'bad',
  plan_violation: 'bad',
  changed_during_run: 'bad',
  working_folder_changed: 'warn',
  notes_unlisted: 'warn',
  renumbered: 'warn',
}

/** Every action of the session as its file keeps it: the newest, or a page of all from the first. */
export function TrailTable({ view }: { view: SessionView }) {
  const { session, query } = view
  const { trail } = session
  const last = Math.max(1, Math.ceil(trail.length / PAGE))
  const page = query.trailPage === null ? null : Math.min(query.trailPage, last)
  const lines = page === null ? trail.slice(-NEWEST) : trail.slice((page - 1) * PAGE, page * PAGE)
  return (
    <details class="card trail" id="trail" open={page !== null}>
      <summary>
        <h2>Audit trail</h2>
        <span class="muted small">{counted(trail.length, 'line')}</span>
      </summary>
      {lines.length < trail.length && (
        <TrailPages
          base={sessionPage(session.case_id, session.number)}
          page={page}
          last={last}
          shown={`Lines ${trail.indexOf(lines[0]!) + 1} to ${trail.indexOf(lines.at(-1)!) + 1} of ${trail.length}`}
        />
      )}
      <section class="table-scroll" tabindex={0} aria-label="Lines of the audit trail">
        <table>
          <thead>
            <tr>
              <th scope="col">No.</th>
              <th scope="col">When</th>
              <th scope="col">What</th>
              <th scope="col">In detail</th>
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
  /** Null where the newest lines are shown. */
  page: number | null
  last: number
  shown: string
}

function TrailPages({ base, page, last, shown }: TrailPagesProps) {
  const address = (to: number) => `${base}?trail=${to}#trail`
  return (
    <nav class="facts" aria-label="Pages of the audit trail">
      <span>{shown}</span>
      {page === null && <a href={address(1)}>From the first</a>}
      {page !== null && page > 1 && <a href={address(page - 1)}>Earlier</a>}
      {page !== null && page < last && <a href={address(page + 1)}>Later</a>}
      {page !== null && <a href={`${base}#trail`}>The newest</a>}
    </nav>
  )
}

function TrailRow({ line }: { line: TrailLine }) {
  const { number, time, event, fields } = line
  return (
    <tr id={`trail-${number}`} data-tone={toneOf(line)}>
      <td class="line-number">{number}</td>
      <td class="when">
        <Time at={time} ago={false} />
      </td>
      <td class="event">{visibleText(event.replaceAll('_', ' '))}</td>
      <td>
        <dl class="fields">
          {Object.entries(fields).map(([name, value]) => (
            <Field name={name} value={value} />
          ))}
        </dl>
      </td>
    </tr>
  )
}

function toneOf({ event, fields }: TrailLine): 'bad' | 'warn' | undefined {
  if (event === 'session_state_changed' && fields.new_state === 'failed') return 'bad'
  if (event === 'step_finished' && fields.exit !== 0) return 'warn'
  return Object.hasOwn(STRIKING, event) ? STRIKING[event] : undefined
}

function Field({ name, value }: { name: string; value: unknown }) {
  const whole = typeof value === 'string' ? value : JSON.stringify(value, null, 1)
  const text = visibleText(whole.slice(0, MAX_VALUE).toWellFormed())
  const isLong = text.length > MAX_INLINE || text.includes('\n')
  return (
    <div>
      <dt>{visibleText(name)}</dt>
      <dd>
        {isLong ? (
          <details>
            <summary>{text.trim().split('\n')[0]!.slice(0, 80)} …</summary>
            <pre tabindex={0}>{text}</pre>
            {whole.length > MAX_VALUE && (
              <p class="muted">The rest of it is in the session's file only.</p>
            )}
          </details>
        ) : (
          text
        )}
      </dd>
    </div>
  )
}
