import { sizeText } from '../../model/amounts.ts'
import type { Gate } from '../../model/gate.ts'
import {
  itemsMetBy,
  type Suggestion,
  suggestProof,
  unmetText,
  unmetTypes,
} from '../../model/suggest-proof.ts'
import { directionOf } from '../../rendering/direction.ts'
import { visibleText } from '../../rendering/hidden-characters.ts'
import { changesPage, logPage, proofPage, sessionPage } from '../shell/addresses.ts'
import type { CandidateRow } from './candidates.ts'

interface CandidatesProps {
  candidates: readonly CandidateRow[]
  gate: Gate
  /** Whether several sessions are listed, so each row names its own. */
  namesSession?: boolean
}

const MAX_ATTACHED = 5

/** What sessions left that can be attached as proof: first what the case needs, then the rest behind a click. */
export function Candidates({ candidates, gate, namesSession = false }: CandidatesProps) {
  const offered = candidates.filter(({ attached, size }) => attached === null && size !== null)
  const suggested = suggestProof(offered, gate)
  const unmet = unmetTypes(offered, gate)
  const attached = candidates.filter((row) => row.attached !== null).slice(0, MAX_ATTACHED)
  const first = [...suggested.map(({ row }) => row), ...attached]
  const rest = candidates.filter((row) => !first.includes(row))
  const list = (rows: readonly CandidateRow[]) => (
    <ul class="candidates stack">
      {rows.map((row) => (
        <CandidateItem row={row} namesSession={namesSession} />
      ))}
    </ul>
  )
  return (
    <>
      {suggested.length > 0 && (
        <ul class="candidates suggested stack">
          {suggested.map((suggestion) => (
            <SuggestionItem suggestion={suggestion} namesSession={namesSession} />
          ))}
        </ul>
      )}
      {unmet.map((type) => (
        <p class="small unmet">{visibleText(unmetText(type, offered))}</p>
      ))}
      {attached.length > 0 && list(attached)}
      {rest.length > 0 && (
        <details class="show-more" id="other-output">
          <summary>
            {first.length > 0 ? 'Other output' : 'Output to attach'} ({rest.length})
          </summary>
          {list(rest)}
        </details>
      )}
    </>
  )
}

interface SuggestionProps {
  suggestion: Suggestion<CandidateRow>
  namesSession: boolean
}

/** What the case needs, and the output that shows it. */
function SuggestionItem({ suggestion: { row, items }, namesSession }: SuggestionProps) {
  const { session, artifact, note } = row
  return (
    <li id={`candidate-${artifact}`}>
      <div>
        <strong>
          <bdi dir={directionOf(items.join(', '))}>{visibleText(items.join(', '))}</bdi>
        </strong>{' '}
        <span class="muted" aria-hidden="true">
          ←
        </span>
        <span class="visually-hidden">, shown by</span> <code>{artifact}</code>{' '}
        <span class="small muted">{visibleText(note)}</span>
        {namesSession && <span class="muted small"> · session {session.number}</span>}
      </div>
      <div class="candidate-actions row">
        <a class="button compact" href={logPage(session.case_id, session.number, artifact)}>
          Look at it<span class="visually-hidden"> ({artifact})</span>
        </a>
        <AttachButton row={row} />
      </div>
    </li>
  )
}

function CandidateItem({ row, namesSession }: { row: CandidateRow; namesSession: boolean }) {
  const { session, artifact, note, size, why_not, attached } = row
  return (
    <li id={`candidate-${artifact}`}>
      <div>
        {size === null ? (
          <code>{visibleText(artifact)}</code>
        ) : (
          <a href={logPage(session.case_id, session.number, artifact)}>
            <code>{artifact}</code>
          </a>
        )}{' '}
        <span class={`small ${why_not === note ? 'bad-text' : 'muted'}`}>{visibleText(note)}</span>
        <span class="muted small">
          {size !== null && ` · ${sizeText(size)}`}
          {namesSession && ` · session ${session.number}`}
        </span>
      </div>
      {size === null && <div class="muted small">not on this machine</div>}
      {attached && <AttachedNote row={row} />}
    </li>
  )
}

function AttachedNote({ row: { session, attached } }: { row: CandidateRow }) {
  return (
    <div class="small good-text">
      ✓ attached as <a href={proofPage(session.case_id, attached!.id)}>{attached!.type}</a>
    </div>
  )
}

interface AttachButtonProps {
  row: CandidateRow
  /** Where to go then; else the page is refreshed. */
  then?: string
}

function AttachButton({ row, then }: AttachButtonProps) {
  const { session, artifact, type } = row
  return (
    <form
      class="needs-script"
      id={`attach-${artifact}`}
      data-send="POST"
      action={`/cases/${session.case_id}/proof`}
      data-focus="#proof-{id} a"
      data-then={then}
    >
      <input type="hidden" name="artifact" value={artifact} />
      <input type="hidden" name="session_id" value={session.id} />
      <button type="submit" class="compact">
        Attach as {type}
        <span class="visually-hidden"> ({artifact})</span>
      </button>
    </form>
  )
}

/** On the page of a file that can be attached: the proof it became, or the button that attaches it. */
export function AttachFromHere({ row, gate }: { row: CandidateRow; gate: Gate }) {
  const { session, type, why_not, attached } = row
  if (attached) return <AttachedNote row={row} />
  const items = itemsMetBy(type, gate)
  return (
    <div class="attach-here row">
      <AttachButton row={row} then={proofPage(session.case_id, '{id}')} />
      {why_not !== null ? (
        <span class="small bad-text">It won't count: {visibleText(why_not)}</span>
      ) : (
        <span class="small muted">
          {items.length > 0 ? (
            <>
              for <bdi dir={directionOf(items.join(', '))}>{visibleText(items.join(', '))}</bdi>
            </>
          ) : (
            'meets nothing that is missing'
          )}
        </span>
      )}
    </div>
  )
}

/** A diff is easier to read on its own page. */
export function DiffLink({ row: { session, type } }: { row: CandidateRow }) {
  if (type !== 'diff') return null
  return <a href={changesPage(sessionPage(session.case_id, session.number))}>View as diff</a>
}
