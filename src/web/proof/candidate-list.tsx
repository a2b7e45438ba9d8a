import { sizeText } from '../../model/amounts.ts'
import type { Gate } from '../../model/gate.ts'
import { visibleText } from '../../rendering/hidden-characters.ts'
import { changesPage, logPage, proofPage, sessionPage } from '../shell/addresses.ts'
import { type CandidateRow, type Suggestion, suggestCandidates } from './candidates.ts'

interface CandidatesProps {
  candidates: readonly CandidateRow[]
  gate: Gate
  /** Whether several sessions are listed, so each row names its own. */
  namesSession?: boolean
}

const MAX_ATTACHED = 5

/** What sessions left that can be attached as proof: first what the case needs, then the rest behind a click. */
export function Candidates({ candidates, gate, namesSession = false }: CandidatesProps) {
  const suggested = suggestCandidates(candidates, gate)
  const attached = candidates.filter((row) => row.attached !== null).slice(0, MAX_ATTACHED)
  const first = [...suggested.map(({ row }) => row), ...attached]
  const rest = candidates.filter((row) => !first.includes(row))
  const list = (rows: readonly CandidateRow[]) => (
    <ul class="candidates">
      {rows.map((row) => (
        <CandidateItem row={row} namesSession={namesSession} />
      ))}
    </ul>
  )
  return (
    <>
      {suggested.length > 0 && (
        <ul class="candidates suggested">
          {suggested.map((suggestion) => (
            <SuggestionItem suggestion={suggestion} namesSession={namesSession} />
          ))}
        </ul>
      )}
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
  suggestion: Suggestion
  namesSession: boolean
}

/** What the case needs, and the output that shows it. What would not count has to be looked at before it is attached. */
function SuggestionItem({ suggestion: { row, items }, namesSession }: SuggestionProps) {
  const { session, artifact, note, objection } = row
  return (
    <li id={`candidate-${artifact}`}>
      <div>
        <strong>
          <bdi>{visibleText(items.join(', '))}</bdi>
        </strong>{' '}
        <span class="muted" aria-hidden="true">
          ←
        </span>
        <span class="visually-hidden">, shown by</span> <code>{artifact}</code>{' '}
        <span class={`small ${objection === note ? 'bad-text' : 'muted'}`}>
          {visibleText(note)}
        </span>
        {namesSession && <span class="muted small"> · session {session.number}</span>}
        {objection !== null && objection !== note && (
          <span class="small bad-text"> · {visibleText(objection)}</span>
        )}
      </div>
      <div class="candidate-actions">
        <a class="button compact" href={logPage(session.case_id, session.number, artifact)}>
          Look at it<span class="visually-hidden"> ({artifact})</span>
        </a>
        {objection === null && <AttachButton row={row} />}
      </div>
    </li>
  )
}

function CandidateItem({ row, namesSession }: { row: CandidateRow; namesSession: boolean }) {
  const { session, artifact, note, size, objection, attached } = row
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
        <span class={`small ${objection === note ? 'bad-text' : 'muted'}`}>
          {visibleText(note)}
        </span>
        <span class="muted small">
          {size !== null && ` · ${sizeText(size)}`}
          {namesSession && ` · session ${session.number}`}
        </span>
      </div>
      {size === null && <div class="muted small">not on this machine</div>}
      {attached && <AttachedNote row={row} />}
      {size !== null && attached === null && <AttachButton row={row} isShort />}
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
  /** Says the type of proof only to assistive technology. */
  isShort?: boolean
  /** Where to go then; else the page is refreshed. */
  then?: string
}

function AttachButton({ row, isShort = false, then }: AttachButtonProps) {
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
      <input type="hidden" name="type" value={type} />
      <input type="hidden" name="artifact" value={artifact} />
      <input type="hidden" name="session_id" value={session.id} />
      <button type="submit" class="compact">
        Attach<span class={isShort ? 'visually-hidden' : undefined}> as {type}</span>
        <span class="visually-hidden"> ({artifact})</span>
      </button>
    </form>
  )
}

/** On the page of a file that can be attached: the proof it became, or the button that attaches it. */
export function AttachFromHere({ row, gate }: { row: CandidateRow; gate: Gate }) {
  const { session, type, objection, attached } = row
  if (attached) return <AttachedNote row={row} />
  const items = gate.items.filter((item) => item.type === type && item.satisfied_by === null)
  return (
    <div class="attach-here">
      <AttachButton row={row} then={proofPage(session.case_id, '{id}')} />
      {objection !== null ? (
        <span class="small bad-text">It won't count: {visibleText(objection)}</span>
      ) : (
        items.length > 0 && (
          <span class="small muted">
            for <bdi>{visibleText(items.map(({ description }) => description).join(', '))}</bdi>
          </span>
        )
      )}
    </div>
  )
}

/** A diff is easier to read on its own page. */
export function DiffLink({ row: { session, type } }: { row: CandidateRow }) {
  if (type !== 'diff') return null
  return <a href={changesPage(sessionPage(session.case_id, session.number))}>View as diff</a>
}
