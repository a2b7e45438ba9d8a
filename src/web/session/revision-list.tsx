import { counted } from '../../model/amounts.ts'
import { visibleText } from '../../rendering/hidden-characters.ts'
import { sessionPage } from '../shell/addresses.ts'
import { Time } from '../shell/time.tsx'
import type { SessionView } from './session-view.ts'

export const WRITERS = {
  provider: 'written by the provider',
  request: 'edited',
  hand: 'edited in the file',
} as const

/** The plans that the session had, the newest first, with what was asked for. */
export function RevisionList({ view }: { view: SessionView }) {
  const { revisionRows, session } = view
  const { rows, before } = revisionRows
  if (rows.length < 2) return null
  const page = sessionPage(session.case_id, session.number)
  return (
    <section class="card" id="revisions" aria-labelledby="revisions-title">
      <h2 id="revisions-title">Revisions of the plan</h2>
      <ol class="revisions" reversed start={before + rows.length}>
        {rows.toReversed().map(({ plan_sha256, at, by, current, note, isKept }) => (
          <li>
            <span>
              {WRITERS[by]} <Time at={at} /> {current && <span class="tag">as shown</span>}
              {!current && isKept && (
                <a href={`${page}?view=diff&against=${plan_sha256.slice(0, 16)}#plan`}>compare</a>
              )}
            </span>
            {note !== null && <blockquote>{visibleText(note)}</blockquote>}
          </li>
        ))}
      </ol>
      {before > 0 && (
        <p class="muted small">{counted(before, 'older one is', 'older ones are')} not listed.</p>
      )}
    </section>
  )
}
