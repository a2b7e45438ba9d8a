import { testsText } from '../../model/amounts.ts'
import type { Gate } from '../../model/gate.ts'
import type { Proof, ReportCounts } from '../../model/proof.ts'
import { meetsText } from '../../model/suggest-proof.ts'
import { visibleText } from '../../rendering/hidden-characters.ts'
import { Isolated } from '../shell/isolated.tsx'
import { Time } from '../shell/time.tsx'

/** Whether a proof is verified, and still as it was then. */
export function Verdict({ proof, verified }: { proof: Proof; verified: boolean }) {
  if (verified) return <span class="verdict good-text">✓ verified</span>
  if (proof.verified && !proof.intact)
    return <span class="verdict bad-text">changed since it was verified</span>
  return <span class="verdict muted">not verified</span>
}

/** What a proof is worth for the checklist. */
export function Meets({ proof, verified, gate }: { proof: Proof; verified: boolean; gate: Gate }) {
  const text = meetsText(proof, verified, gate)
  if (text === '') return null
  return <Isolated class="small muted" text={text} />
}

export function countsText(counts: ReportCounts): string {
  return testsText(counts) + (counts.flaky === undefined ? '' : `, ${counts.flaky} flaky`)
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
      <Isolated text={accepted} />
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
          verified{proof.verified_by === null ? '' : ` by ${visibleText(proof.verified_by)}`}{' '}
          <Time at={proof.verified_at} />
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
      class="verify-form needs-script stack"
      id={`verify-${id}`}
      data-send="PUT"
      action={`/cases/${case_id}/proof/${id}/verify`}
      data-if-match={etag}
      data-focus={`#proof-${id} a, #proof-head h1`}
    >
      <button type="submit" class="primary" data-key="a">
        Verify<span class="visually-hidden"> {type}</span>
      </button>
    </form>
  )
}
