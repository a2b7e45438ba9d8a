import { sizeText } from '../../model/amounts.ts'
import type { Gate } from '../../model/gate.ts'
import { itemsMetBy, suggestProof } from '../../model/suggest-proof.ts'
import { visibleText } from '../../rendering/hidden-characters.ts'
import type { CandidateRow } from '../../sessions/candidates.ts'
import { changesPage, logPage, proofPage, sessionPage } from '../shell/addresses.ts'
import { Isolated } from '../shell/isolated.tsx'

interface CandidatesProps {
  candidates: readonly CandidateRow[]
  gate: Gate
}

const MAX_ATTACHED = 5

/** What a session left that can be attached as proof: first what the case needs, then the rest behind a click. */
export function Candidates({ candidates, gate }: CandidatesProps) {
  const offered = candidates.filter(({ attached, size }) => attached === null && size !== null)
  const suggested = suggestProof(offered, gate)
  const attached = candidates.filter((row) => row.attached !== null).slice(0, MAX_ATTACHED)
  const first = [...suggested.map(({ row }) => row), ...attached]
  const rest = candidates.filter((row) => !first.includes(row))
  const itemsOf = (row: CandidateRow) => suggested.find((each) => each.row === row)?.items ?? []
  const list = (rows: readonly CandidateRow[]) => (
    <ul class="candidates stack">
      {rows.map((row) => (
        <CandidateItem row={row} meets={itemsOf(row)} />
      ))}
    </ul>
  )
  return (
    <>
      {first.length > 0 && list(first)}
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

function CandidateItem({ row, meets }: { row: CandidateRow; meets: readonly string[] }) {
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
        {size !== null && <span class="muted small"> · {sizeText(size)}</span>}
      </div>
      {meets.length > 0 && (
        <div class="small">
          meets: <Isolated text={meets.join(', ')} />
        </div>
      )}
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
              for <Isolated text={items.join(', ')} />
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
