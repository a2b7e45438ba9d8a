import { counted, sizeText } from '../../model/amounts.ts'
import type { Proof, ReportCounts } from '../../model/proof.ts'
import { visibleText } from '../../rendering/hidden-characters.ts'
import { artifactFile, proofPage } from '../shell/addresses.ts'
import { Time } from '../shell/time.tsx'
import type { CandidateRow } from './candidates.ts'

/** Whether a proof is verified, and still as it was then. */
export function Verdict({ proof, verified }: { proof: Proof; verified: boolean }) {
  if (verified) return <span class="verdict good-text">✓ verified</span>
  if (proof.verified && !proof.intact)
    return <span class="verdict bad-text">changed since it was verified</span>
  return <span class="verdict muted">not verified</span>
}

export function testsText({ run, passed }: ReportCounts): string {
  return `${passed} of ${counted(run, 'test')} passed`
}

/** Why the operator accepted a proof that would not count. */
export function AcceptedReason({
  accepted,
  despite,
}: {
  accepted: string | null
  despite: string | null
}) {
  if (accepted === null) return null
  return (
    <p class="small">
      Accepted{despite === null ? '' : ` although ${visibleText(despite)}`}:{' '}
      <bdi>{visibleText(accepted)}</bdi>
    </p>
  )
}

/** When a proof was attached, and when it was verified if it still counts as that. */
export function ProofTimes({ proof, verified }: { proof: Proof; verified: boolean }) {
  return (
    <>
      <span>
        attached <Time at={proof.created_at} />
      </span>
      {verified && proof.verified_at && (
        <span>
          verified <Time at={proof.verified_at} />
        </span>
      )}
    </>
  )
}

/**
 * Verifies exactly the content that this page was made from, of which an excerpt may be shown: the service
 * rejects it if the proof has changed, and client/conflicts.tsx asks first if a refresh brought the change.
 */
export function VerifyForm({ proof, etag }: { proof: Proof; etag: string }) {
  const { id, case_id, type } = proof
  return (
    <form
      class="verify-form needs-script"
      id={`verify-${id}`}
      data-send="PUT"
      action={`/cases/${case_id}/proof/${id}/verify`}
      data-if-match={etag}
      data-focus={`#proof-${id} a, #proof-head h1`}
    >
      <button type="submit" class="compact">
        Verify<span class="visually-hidden"> {type}</span>
      </button>
    </form>
  )
}

interface CandidatesProps {
  candidates: readonly CandidateRow[]
  /** The types of proof that the case still needs. */
  gateTypes: ReadonlySet<string>
  /** Whether several sessions are listed, so each row names its own. */
  namesSession?: boolean
}

/** What sessions left that can be attached as proof: first what the case needs, then the rest behind a click. */
export function Candidates({ candidates, gateTypes, namesSession = false }: CandidatesProps) {
  const isFirst = ({ attached, type }: CandidateRow) => attached !== null || gateTypes.has(type)
  const first = candidates.some(isFirst) ? candidates.filter(isFirst) : candidates.slice(0, 3)
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
      {first.length > 0 && list(first)}
      {rest.length > 0 && (
        <details class="show-more" id="other-output">
          <summary>Other output ({rest.length})</summary>
          {list(rest)}
        </details>
      )}
    </>
  )
}

function CandidateItem({ row, namesSession }: { row: CandidateRow; namesSession: boolean }) {
  const { session, artifact, note, type, size, attached } = row
  return (
    <li id={`candidate-${artifact}`}>
      <div>
        {size === null ? (
          <code>{visibleText(artifact)}</code>
        ) : (
          <a href={artifactFile(session, artifact)} target="_blank" rel="noreferrer">
            <code>{artifact}</code>
          </a>
        )}{' '}
        <span class="muted small">
          {visibleText(note)}
          {size !== null && ` · ${sizeText(size)}`}
          {namesSession && ` · session ${session.number}`}
        </span>
      </div>
      {size === null && <div class="muted small">not on this machine</div>}
      {attached && (
        <div class="small good-text">
          ✓ attached as <a href={proofPage(session.case_id, attached.id)}>{attached.type}</a>
        </div>
      )}
      {size !== null && attached === null && (
        <form
          class="needs-script"
          id={`attach-${artifact}`}
          data-send="POST"
          action={`/cases/${session.case_id}/proof`}
          data-focus="#proof-{id} a"
        >
          <input type="hidden" name="type" value={type} />
          <input type="hidden" name="artifact" value={artifact} />
          <input type="hidden" name="session_id" value={session.id} />
          <button type="submit" class="compact">
            Attach as {type}
            <span class="visually-hidden"> ({artifact})</span>
          </button>
        </form>
      )}
    </li>
  )
}
